import pytest
from scores import row, table
from sufficit.controller.evaluation.contrasts.ablation import subsets
from sufficit.controller.evaluation.contrasts.comparison import compare
from sufficit.tools.errors import InputError


def rows(*terms):
    return [row(str(n), f"g{n // 2}", n % 2 == 0, sum(t.values()), terms=t) for n, t in enumerate(terms)]


def test_every_subset_of_whatever_readers_there_are():
    terms = {"content": 1.0, "joint": 2.0, "span": 4.0}
    found = subsets(table("rinse", rows(terms, dict.fromkeys(terms, 0.0))))
    assert [each.label for each in found] == [
        "content+joint+span", "content+joint", "content+span", "joint+span", "content", "joint", "span"
    ]  # fmt: skip
    assert [each.rows["0"].score for each in found] == [7.0, 3.0, 5.0, 6.0, 1.0, 2.0, 4.0]


def test_accuracies_of_subsets_can_be_compared():
    good, bad = {"a": 1.0, "b": -3.0}, {"a": 0.0, "b": 0.0}
    totals = {each.scorer: each.average for each in compare(subsets(table("r", rows(good, bad)))).overall}
    assert totals == {"a+b": 0.0, "a": 1.0, "b": 0.0}


def test_records_that_lack_a_reader_are_left_out_of_all_subsets():
    full, part = {"a": 1.0, "b": 1.0}, {"a": 1.0}
    assert all(len(each.rows) == 2 for each in subsets(table("r", rows(full, full, part))))


def test_one_reader_cannot_be_ablated():
    with pytest.raises(InputError, match="stand on no two readers"):
        subsets(table("r", rows({"a": 1.0})))
