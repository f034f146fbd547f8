import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.policies.rinse.size import PaddingCurve, SizeCurve, fit_padding, fit_standard


def test_recovers_the_line_and_standardises_what_is_left():
    sizes = [1, 3, 7, 15, 1, 3, 7, 15]
    noise = [0.1, -0.1, 0.1, -0.1, -0.1, 0.1, -0.1, 0.1]
    raws = [2.0 + 0.5 * math.log1p(size) + e for size, e in zip(sizes, noise, strict=True)]
    standard = fit_standard(sizes, raws)
    assert standard.curve.alpha == pytest.approx(2.0)
    assert standard.curve.beta == pytest.approx(0.5)
    assert standard.curve.largest == 15
    assert standard.sigma == pytest.approx(0.1)
    assert standard.standardise(raws[0], 1) == pytest.approx(1.0)


def test_records_of_one_size_have_no_slope():
    standard = fit_standard([1, 1, 1], [1.0, 2.0, 3.0])
    assert standard.curve.beta == 0.0
    assert standard.curve.at(1) == pytest.approx(2.0)
    assert standard.curve.at(500) == pytest.approx(2.0)


def test_scores_without_spread_add_nothing_and_divide_by_nothing():
    standard = fit_standard([1, 2], [0.0, 0.0])
    assert standard.standardise(0.0, 2) == 0.0


def test_the_padding_curve_takes_over_beyond_the_largest_training_set():
    curve = SizeCurve(
        1.0, 2.0, 10, PaddingCurve((math.log1p(5), math.log1p(10), math.log1p(100)), (0.0, 1.0, 4.0))
    )
    assert curve.at(10) == pytest.approx(1.0 + 2.0 * math.log1p(10))
    assert curve.at(100) == pytest.approx(1.0 + 2.0 * math.log1p(10) + 3.0)
    assert curve.at(500) == curve.at(100)  # flat beyond the last knot


def test_padding_is_fitted_within_records():
    """Two records with levels far apart and the same growth: pooled least squares would see the levels."""
    sizes = [1, 10, 100, 10, 100, 1000]
    growth = {1: 0.0, 10: 1.0, 100: 1.5, 1000: 1.6}
    raws = [growth[size] + level for size, level in zip(sizes, [0] * 3 + [-50] * 3, strict=True)]
    curve = fit_padding(["a"] * 3 + ["b"] * 3, sizes, raws)
    for size, value in growth.items():
        assert curve.at(size) - curve.at(1) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("records", "sizes"),
    [([], []), (["a", "b"], [1, 5]), (["a", "a"], [3, 3])],
    ids=["none", "single", "same size"],
)
def test_no_curve_without_a_record_in_two_sizes(records, sizes):
    assert fit_padding(records, sizes, [1.0] * len(sizes)) is None


@given(
    st.lists(st.tuples(st.integers(1, 500), st.floats(-1e3, 1e3, allow_nan=False)), min_size=1, max_size=40)
)
def test_standardised_training_scores_are_centred_and_finite(records):
    sizes, raws = zip(*records, strict=True)
    standard = fit_standard(sizes, raws)
    terms = np.array([standard.standardise(raw, size) for size, raw in records])
    assert np.isfinite(terms).all()
    assert abs(terms.mean()) < 1e-6
    assert terms.std() == pytest.approx(1.0) or terms.std() < 1e-3 or standard.sigma == 1.0
