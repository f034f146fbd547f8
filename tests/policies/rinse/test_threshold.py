import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.policies.rinse.threshold import ScoredRecord, answer_threshold
from sufficit.tools.errors import InputError


def records(insufficient, sufficient):
    return [ScoredRecord(f"g{i}", False, score) for i, score in enumerate(insufficient)] + [
        ScoredRecord(f"g{i}", True, score) for i, score in enumerate(sufficient)
    ]


def test_counts_with_the_finite_sample_correction():
    """n = 9, alpha = 0.2: (9 R + 1) / 10 <= 0.2 allows R = 1/9: only the largest may be answered."""
    found = answer_threshold(records(range(9), [6.5, 7.5, 8.5, 9.5]), 0.2)
    assert found.value == np.nextafter(7.0, np.inf)
    assert found.insufficient_rate == pytest.approx(1 / 9)
    assert found.sufficient_rate == pytest.approx(3 / 4)
    assert found.groups == 9


def test_a_group_counts_once():
    rows = [ScoredRecord("big", False, 10.0)] * 50 + [
        ScoredRecord(f"g{i}", False, float(i)) for i in range(8)
    ]
    assert answer_threshold(rows, 0.2).value == np.nextafter(7.0, np.inf)


def test_too_few_groups_say_how_many_it_takes():
    with pytest.raises(InputError, match="takes 4 held-out groups or more"):
        answer_threshold(records([0.1, 0.2, 0.3], [1.0]), 0.2)


def test_all_equal_scores_are_refused_together():
    found = answer_threshold(records([1.0] * 10, [1.0] * 10), 0.2)
    assert found.insufficient_rate == 0.0
    assert found.sufficient_rate == 0.0


@given(
    st.lists(st.floats(-10, 10, allow_nan=False), min_size=9, max_size=60), st.sampled_from([0.1, 0.2, 0.5])
)
def test_smallest_threshold_within_the_risk(scores, alpha):
    found = answer_threshold(records(scores, []), alpha)
    count = len(scores)

    def risk(threshold):
        return (sum(score >= threshold for score in scores) + 1) / (count + 1)

    assert risk(found.value) <= alpha
    below = [score for score in scores if score < found.value]
    assert not below or risk(max(below)) > alpha


def test_the_rate_holds_on_new_groups():
    """Over many draws the mean rate of answering fresh insufficient records stays at or below alpha."""
    generator = np.random.default_rng(3)
    rates = []
    for _ in range(400):
        threshold = answer_threshold(records(generator.normal(size=30), []), 0.2).value
        rates.append(np.mean(generator.normal(size=200) >= threshold))
    assert 0.15 < np.mean(rates) <= 0.205
