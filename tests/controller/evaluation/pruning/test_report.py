import numpy as np
import pytest
from sufficit.controller.evaluation.pruning.report import bootstrap, spearman


def test_spearman_with_ties():
    assert spearman([1, 2, 3], [10, 20, 90]) == pytest.approx(1.0)
    assert spearman([1, 2, 3], [9, 5, 1]) == pytest.approx(-1.0)
    # Ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4.
    assert spearman([1, 2, 2, 3], [1, 3, 2, 4]) == pytest.approx(0.9486833)
    assert spearman([1, 1], [1, 2]) is None
    assert spearman([1], [2]) is None


def test_intervals_hold_the_mean_and_come_out_the_same():
    values = np.array([0.0, 1.0] * 20)
    found = bootstrap(values)
    assert found == bootstrap(values)
    assert found.low < found.value == 0.5 < found.high
    assert bootstrap(np.array([0.25])).low == 0.25
