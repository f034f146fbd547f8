from dataclasses import replace

from sufficit.controller.cache import settled
from sufficit.controller.cache.settled import Dated, Settled, SettledNeeds, marks
from sufficit.tools.types import Passage

PAGE = Passage("0", "text", source="web:a", metadata={"expires": 50})


class Held:
    def __init__(self) -> None:
        self.passages: list[Passage] = []

    def replace(self, passages) -> None:
        self.passages += passages


def test_it_stands_until_its_time_is_over():
    needs = SettledNeeds()
    known = Settled(False, marks([PAGE]), 50.0)
    needs.keep("a", known)
    assert needs.find("a", 49.9) is known
    assert needs.find("a", 50.0) is None
    assert needs.find("b", 0.0) is None


def test_the_latest_needs_are_remembered(monkeypatch):
    monkeypatch.setattr(settled, "_REMEMBERED", 2)
    needs = SettledNeeds()
    known = Settled(True, frozenset(), 1.0)
    for key in "abac":
        needs.keep(key, known)
    assert [needs.find(key, 0.0) for key in "abc"] == [known, None, known]


def test_a_later_fetch_of_a_passage_has_another_mark():
    later = replace(PAGE, metadata={"expires": 51})
    assert marks([PAGE]) == marks([replace(PAGE, score=2.0)]) != marks([later])


def test_what_is_kept_is_dated_by_the_first_to_expire():
    dated = Dated(held := Held())
    dated.replace(iter([PAGE, replace(PAGE, id="1", metadata={"expires": 40})]))
    dated.replace([replace(PAGE, source="web:b")])
    assert (dated.until, len(held.passages)) == (40, 3)
