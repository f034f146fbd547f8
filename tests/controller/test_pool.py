from sufficit.controller.pool import Pool
from sufficit.tools.types import Passage


def passage(identity: str, text: str, source: str = "s") -> Passage:
    return Passage(id=identity, text=text, source=source)


def test_each_key_and_each_text_enters_once():
    pool = Pool(capacity=10)
    assert len(pool.add([passage("1", "one"), passage("1", "other"), passage("2", " one\n")])) == 1
    assert [p.id for p in pool.passages] == ["1"]
    assert pool.add([passage("1", "one", source="t")]) == ()
    assert pool.add([passage("1", "two", source="t")]) == (("t", "1"),)


def test_what_says_nothing_does_not_enter():
    pool = Pool(capacity=10)
    assert pool.add([passage("1", " \n"), passage("2", "two")]) == (("s", "2"),)


def test_capacity_is_never_exceeded():
    pool = Pool(capacity=2)
    assert len(pool.add(passage(str(n), f"text {n}") for n in range(5))) == 2
    assert pool.add([passage("9", "nine")]) == ()
