import pytest
from scores import graded, row, table
from sufficit.controller.evaluation.contrasts.comparison import compare, differences, overall, set_accuracies
from sufficit.controller.evaluation.contrasts.scores import ScoreTable
from sufficit.tools.errors import InputError


def joined(label, *tables):
    rows = {key: row for each in tables for key, row in each.rows.items()}
    return ScoreTable(label, rows, frozenset(), 1)


def test_accuracy_by_set_with_what_is_missing():
    rows = [*graded("a", [True, True, False, True]).rows.values()]
    rows += [row("s", "skipped", True, None, skipped="too long"), row("t", "skipped", False, 0.0)]
    (found,) = set_accuracies(table("a", rows))
    assert (found.accuracy.value, found.accuracy.pairs) == (0.75, 4)
    assert (found.skipped, found.unpaired, found.seen) == (1, 1, False)


def test_ties_count_half():
    rows = [row("1", "g", True, 0.5), row("2", "g", False, 0.5)]
    assert set_accuracies(table("a", rows))[0].accuracy.value == 0.5


def test_a_familys_constructions_are_averaged_first():
    mixed = joined(
        "a",
        graded("a", [True] * 4, "one", "x"),
        graded("a", [True, False], "one", "y"),
        graded("a", [True, False, False, False], "two", "x"),
    )
    found = overall(mixed)
    assert (found.families, found.average, found.minimum) == (2, 0.5, 0.25)
    assert found.low < 0.5 < found.high


def test_differences_stand_on_common_records_and_the_same_draws():
    wins = [True, False, True, True, False, True]
    better, base = graded("b", [True] * 6), graded("a", wins)
    by_set, average = differences(better, base)
    assert by_set.value == pytest.approx(1 / 3)
    assert (by_set.scorer, by_set.reference, by_set.family) == ("b", "a", "f")
    assert (average.family, average.value) == (None, by_set.value)
    same = differences(graded("c", wins), base)
    assert all((found.value, found.low, found.high) == (0.0, 0.0, 0.0) for found in same)


def test_differences_leave_out_what_one_has_not_scored():
    base = graded("a", [True, False])
    partial = graded("b", [True, True, True])
    (by_set, _) = differences(partial, base)
    assert by_set.value == 0.5
    assert differences(graded("b", [True], family="other"), base) == []


def test_speed_skips_and_notes_are_counted():
    rows = [
        row(str(n), f"g{n // 2}", n % 2 == 0, 1.0, seconds=n / 1000, share=0.1, note="cut") for n in range(20)
    ]
    rows.append(row("x", "gx", True, None, skipped="too long"))
    found = compare([table("a", rows)])
    (speed,) = found.speed
    assert speed.records == 20
    assert speed.p50 == pytest.approx(9.5)
    assert speed.p95 == pytest.approx(18.05)
    assert speed.per_second == pytest.approx(10)
    assert found.skipped == {"a": {"too long": 1}}
    assert found.noted == {"a": {"cut": 20}}


def test_the_reference_can_be_named():
    tables = [graded("a", [True]), graded("b", [False])]
    assert {found.reference for found in compare(tables).differences} == {"a"}
    assert {found.scorer for found in compare(tables, "b").differences} == {"a"}
    with pytest.raises(InputError, match="there are: a, b"):
        compare(tables, "c")


def test_no_pair_at_all_is_an_error():
    with pytest.raises(InputError, match="nothing to compare"):
        compare([table("a", [row("1", "g", True, 1.0)])])
