import pytest
from sufficit.tools.errors import FetchFailed
from sufficit.tools.web.pace import Pace


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_turns_of_a_host_are_an_interval_apart_and_hosts_do_not_wait_for_each_other():
    clock = Clock()
    pace = Pace(1.0, 10.0, clock)
    assert [pace.reserve("a") for _ in range(3)] == [0, 1, 2]
    assert pace.reserve("b") == 0
    clock.now += 2.5
    assert pace.reserve("a") == 0.5
    clock.now += 100
    assert pace.reserve("a") == 0


def test_a_host_may_ask_for_more_but_not_for_less():
    pace = Pace(1.0, 100.0, Clock())
    pace.slow_down("a", 30)
    pace.slow_down("b", 0.1)
    assert [pace.reserve("a") for _ in range(3)] == [0, 30, 60]
    assert [pace.reserve("b") for _ in range(3)] == [0, 1, 2]


def test_patience_ends_without_a_turn_being_taken():
    clock = Clock()
    pace = Pace(4.0, 5.0, clock)
    assert [pace.reserve("a"), pace.reserve("a")] == [0, 4]
    with pytest.raises(FetchFailed, match="for 8 s"):
        pace.reserve("a")
    clock.now += 3
    assert pace.reserve("a") == 5


def test_what_is_remembered_is_bounded():
    pace = Pace(1.0, 10.0, Clock())
    for n in range(10_050):
        pace.reserve(str(n))
    assert pace.reserve("0") == 0
    assert pace.reserve("10049") == 1
