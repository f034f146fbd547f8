import pytest
from sufficit.tools.errors import InputError
from sufficit.tools.retrievers.corpora.problems import KINDS, Problem, Problems


def test_problems_are_counted_by_kind_zeros_included():
    problems = Problems()
    assert (len(problems), problems.counts, problems.first) == (0, dict.fromkeys(KINDS, 0), ())
    for kind in ("empty", "bad line", "empty"):
        problems.add(kind, "c.jsonl", 1, "detail")
    assert problems.counts == {
        "duplicate": 0, "empty": 2, "bad line": 1, "undecodable": 0, "unreadable": 0,
    }  # fmt: skip
    assert len(problems) == 3


def test_a_thousand_are_kept_by_name_and_all_are_counted():
    problems = Problems()
    for line in range(1, 1003):
        problems.add("duplicate", "c.jsonl", line, "")
    assert [problem.line for problem in problems.first] == list(range(1, 1001))
    assert len(problems) == problems.counts["duplicate"] == 1002


def test_a_problem_names_its_place():
    assert str(Problem("bad line", "c.jsonl", 7, "not JSON")) == "c.jsonl:7: bad line: not JSON"
    assert str(Problem("unreadable", "c.txt", None, "gone")) == "c.txt: unreadable: gone"


def test_a_strict_one_stops_at_the_first():
    problems = Problems(strict=True)
    with pytest.raises(InputError, match=r"^c\.jsonl:7: empty: no text\nMend it, or leave out --strict"):
        problems.add("empty", "c.jsonl", 7, "no text")
    assert len(problems) == 0
