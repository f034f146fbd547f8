import pytest
from sufficit.controller.evaluation.pruning.report import spearman


def test_spearman_with_ties():
    assert spearman([1, 2, 3], [10, 20, 90]) == pytest.approx(1.0)
    assert spearman([1, 2, 3], [9, 5, 1]) == pytest.approx(-1.0)
    # Ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4.
    assert spearman([1, 2, 2, 3], [1, 3, 2, 4]) == pytest.approx(0.9486833)
    assert spearman([1, 1], [1, 2]) is None
    assert spearman([1], [2]) is None
