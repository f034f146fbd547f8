import pytest
from rich.text import Text
from sufficit.controller.commands.bars import RecordBars


def test_there_is_a_bar_a_name_and_no_rate_before_anything_is_done() -> None:
    bars = RecordBars()
    bars.show("scores", 40, 100)
    bars.show("others", 0, 3)
    bars.show("scores", 41, 100)
    first, second = bars.tasks
    assert [(task.description, task.completed, task.total) for task in (first, second)] == [
        ("scores", 41, 100),
        ("others", 0, 3),
    ]
    assert bars.bar("scores") == first.id != bars.bar("others")
    rate = bars.columns[3]
    assert rate(second) == Text("")


def test_records_that_take_a_minute_have_a_rate_and_a_time_left() -> None:
    bars, now = RecordBars(), [0.0]
    bars.get_time = lambda: now[0]
    for done in range(5):
        bars.show("scores", done, 10)
        now[0] += 60.0
    (task,) = bars.tasks
    assert task.speed == pytest.approx(1 / 60)
    assert task.time_remaining == 360
    assert bars.columns[3](task) == Text("0.02/s")
