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
