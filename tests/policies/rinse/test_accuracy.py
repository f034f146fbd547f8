import numpy as np
import pytest
from sufficit.policies.rinse.accuracy import pairwise_accuracy
from sufficit.policies.rinse.records import Pair
from sufficit.tools.errors import InputError, ModelOutputError


def test_every_pair_weighs_the_same_and_a_tie_is_half() -> None:
    pairs = [Pair("a", 0, 1), Pair("a", 0, 2), Pair("a", 0, 3), Pair("b", 4, 5)]
    accuracy = pairwise_accuracy(pairs, [1.0, 0.0, 1.0, 2.0, 3.0, 0.0])
    assert accuracy.value == (1 + 0.5 + 0 + 1) / 4
    assert (accuracy.pairs, accuracy.groups) == (4, 2)


def test_the_interval_is_that_of_whole_groups() -> None:
    """Where groups are won or lost whole, it is the binomial interval of the groups, not of the pairs."""
    pairs = [Pair(str(group), 2 * group, 2 * group + 1) for group in range(100) for _ in range(50)]
    scores = [float(place % 2 == (place // 2 < 30)) for place in range(200)]
    accuracy = pairwise_accuracy(pairs, scores)
    width = 1.96 * np.sqrt(0.7 * 0.3 / 100)
    assert accuracy.value == pytest.approx(0.7)
    assert accuracy.low == pytest.approx(0.7 - width, abs=0.015)
    assert accuracy.high == pytest.approx(0.7 + width, abs=0.015)
    assert pairwise_accuracy(pairs, scores) == accuracy


def test_one_group_has_no_width() -> None:
    accuracy = pairwise_accuracy([Pair("a", 0, 1)], [1.0, 0.0])
    assert (accuracy.low, accuracy.value, accuracy.high) == (1.0, 1.0, 1.0)


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(InputError, match="nothing to compare"):
        pairwise_accuracy([], [])


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_an_error(bad: float) -> None:
    with pytest.raises(ModelOutputError, match="group 'a'"):
        pairwise_accuracy([Pair("a", 0, 1)], [bad, 0.0])
