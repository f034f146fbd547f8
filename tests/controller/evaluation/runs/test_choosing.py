import pytest
from prediction_rows import row, write_run
from sufficit.controller.evaluation.runs.choosing import chosen, compare_paths
from sufficit.tools.errors import InputError

RIGHT = [row("a", score=1.0), row("b", score=0.5)]
WRONG = [row("a", score=1.0), row("b", answer="wrong", score=0.5)]


@pytest.fixture
def runs(tmp_path):
    write_run(tmp_path / "many", {"full": RIGHT, "direct": WRONG})
    write_run(tmp_path / "one", {"full": WRONG})
    return tmp_path


def labels(comparisons):
    return [(found.first, found.second) for found in comparisons]


def test_a_folder_or_one_configuration_of_it(runs):
    assert list(chosen(runs / "many").rows) == ["full", "direct"]
    one = chosen(runs / "many" / "direct")
    assert list(one.rows) == ["direct"]
    assert one.folder.path == runs / "many"


def test_two_configurations_of_one_run(runs):
    (found,) = compare_paths(runs / "many" / "full", runs / "many" / "direct")
    assert (found.first, found.second) == ("full", "direct")
    f1 = next(one for one in found.differences if one.measure == "F1")
    assert (f1.first, f1.second) == (1.0, 0.5)


def test_two_runs_are_compared_by_equal_names(runs):
    wanted = [(str(runs / "many" / "full"), str(runs / "one" / "full"))]
    assert labels(compare_paths(runs / "many", runs / "one")) == wanted
    assert labels(compare_paths(runs / "many" / "direct", runs / "one")) == [("direct", "full")]


def test_what_is_unclear_is_said(runs):
    with pytest.raises(InputError, match=r"unclear what to compare.*many/NAME.*full, direct"):
        compare_paths(runs / "many", runs / "many")
    with pytest.raises(InputError, match="unclear"):
        compare_paths(runs / "one", runs / "one" / "full")
    with pytest.raises(InputError, match=r"no such configuration has ended.*there are: full, direct"):
        chosen(runs / "many" / "other")
    with pytest.raises(InputError, match="no folder of"):
        chosen(runs)
