import numpy as np
import pytest
from sufficit.policies.resampling import Interval, bootstrap, interval, mean_interval, resample


def test_the_interval_of_a_mean_is_the_binomial_one():
    found = mean_interval(np.array([1.0] * 70 + [0.0] * 30))
    width = 1.96 * np.sqrt(0.7 * 0.3 / 100)
    assert found.value == pytest.approx(0.7)
    assert (found.low, found.high) == pytest.approx((0.7 - width, 0.7 + width), abs=0.015)
    assert mean_interval(np.array([0.25])) == Interval(0.25, 0.25, 0.25)


def test_every_draw_has_as_many_groups_as_there_are():
    assert set(resample(lambda times: times.sum(axis=1), 7)) == {7.0}


def test_one_seed_draws_the_same_for_all_figures():
    one, two = np.array([0.0, 1.0, 5.0]), np.array([1.0, 2.0, 6.0])
    counts = np.ones(3)
    assert bootstrap(two, counts) - bootstrap(one, counts) == pytest.approx(1.0)
    assert not np.array_equal(bootstrap(one, counts), bootstrap(one, counts, seed=1))


def test_a_ratio_is_of_sums_not_of_shares():
    drawn = bootstrap(np.array([1.0, 1.0]), np.array([1.0, 4.0]))
    assert set(np.round(drawn, 3)) == {1.0, 0.4, 0.25}
    assert interval(drawn) == (0.25, 1.0)


@pytest.mark.parametrize(
    ("low", "high", "real"), [(0.01, 0.3, True), (-0.3, -0.01, True), (0.0, 0.3, False), (-0.1, 0.1, False)]
)
def test_a_difference_is_real_where_its_interval_excludes_zero(low, high, real):
    assert Interval(0.1, low, high).excludes_zero is real
