import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sufficit.policies.rinse.conditional_logit import fit_weights, mean_loss


def test_one_feature_agrees_with_a_search_by_hand():
    groups = [np.array([[1.0], [-0.5]]), np.array([[2.0]])]

    def loss(w):
        first = (np.log1p(np.exp(-w)) + np.log1p(np.exp(0.5 * w))) / 2
        return (first + np.log1p(np.exp(-2 * w))) / 2 + 0.05 * w * w

    expected = minimize_scalar(loss, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10}).x
    assert fit_weights(groups, l2=0.1)[0] == pytest.approx(expected, abs=1e-5)


def test_a_group_counts_once_however_many_pairs_it_has():
    small, large = [np.array([[1.0]]), np.array([[-1.0]])], [np.array([[1.0]]), np.full((500, 1), -1.0)]
    assert fit_weights(large, 0.01)[0] == pytest.approx(fit_weights(small, 0.01)[0], abs=1e-6)


def test_the_same_data_give_the_same_weights():
    draws = np.random.default_rng(0).normal(0.3, 1, (30, 4, 16))
    assert np.array_equal(fit_weights(list(draws), 0.01), fit_weights(list(draws), 0.01))


def test_extreme_differences_do_not_overflow():
    assert np.isfinite(fit_weights([np.array([[1e4, -1e4]]), np.array([[-1e4, 1e4]])], 0.01)).all()


def test_the_loss_is_that_of_guessing_without_weights_and_counts_groups_once():
    groups = [np.array([[1.0]]), np.full((9, 1), -1.0)]
    assert mean_loss(groups, np.zeros(1)) == pytest.approx(np.log(2))
    assert mean_loss(groups, np.ones(1)) == pytest.approx((np.log1p(np.exp(-1)) + np.log1p(np.exp(1))) / 2)
