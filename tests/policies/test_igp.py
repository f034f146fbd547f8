import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sufficit.policies.igp import (
    IGPSettings,
    admit,
    information_gain,
    mean_uncertainty,
    normalised_uncertainty,
    step_entropy,
    step_uncertainties,
)
from sufficit.policies.types import Candidate
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.types import PassageKey

INF = math.inf
LOG2 = math.log(2)
logprobs = st.lists(st.floats(-40, 0) | st.just(-INF), max_size=8)


def logs(*probabilities: float) -> tuple[float, ...]:
    return tuple(math.log(p) for p in probabilities)


# --- equations (2) to (7) ---


def test_entropy_of_renormalised_probabilities_by_hand() -> None:
    # Renormalised to (2/3, 1/3): H = log 3 - 2/3 log 2.
    assert step_entropy(logs(0.4, 0.2)) == pytest.approx(math.log(3) - 2 / 3 * LOG2)
    assert step_entropy(logs(0.1, 0.1, 0.1, 0.1)) == pytest.approx(2 * LOG2)
    assert step_entropy(logs(0.3)) == 0.0
    assert step_entropy(()) == 0.0


def test_missing_entries_are_left_out_not_averaged() -> None:
    assert step_entropy((*logs(0.5, 0.5), -INF, -INF)) == pytest.approx(LOG2)
    assert step_entropy((-INF, -INF)) == 0.0


@given(logprobs)
def test_entropy_lies_between_zero_and_log_k_whatever_the_scale(values: list[float]) -> None:
    entropy = step_entropy(values)
    assert -1e-9 <= entropy <= math.log(max(len(values), 1)) + 1e-9
    assert step_entropy([v - 3.0 for v in values]) == pytest.approx(entropy, abs=1e-9)
    assert step_entropy(list(reversed(values))) == pytest.approx(entropy, abs=1e-9)


@pytest.mark.parametrize("broken", [math.nan, INF])
def test_broken_probabilities_are_an_error(broken: float) -> None:
    with pytest.raises(ModelOutputError):
        step_entropy((0.0, broken))
    with pytest.raises(ModelOutputError):
        normalised_uncertainty([(0.0, broken)], 4)


def test_uncertainty_is_the_mean_of_normalised_entropies() -> None:
    # Entropies log 2 and 0 over T = 2 steps, K = 4: (log 2) / (2 log 4) = 1/4.
    assert normalised_uncertainty([logs(0.5, 0.5), logs(1.0)], 4) == pytest.approx(0.25)
    assert normalised_uncertainty([logs(0.25, 0.25, 0.25, 0.25)], 4) == 1.0


def test_only_the_k_largest_of_a_step_count() -> None:
    step = logs(0.1, 0.4, 0.4, 0.1)
    assert normalised_uncertainty([step], 2) == pytest.approx(1.0)
    assert normalised_uncertainty([step], 4) < 1.0


def test_k_of_one_and_no_steps_are_defined() -> None:
    assert normalised_uncertainty([logs(0.5, 0.5)], 1) == 0.0
    assert normalised_uncertainty([], 128) == 1.0
    assert normalised_uncertainty([(), (-INF,)], 128) == 1.0
    # A step without entries was not observed: T = 1, not 2.
    assert normalised_uncertainty([logs(0.5, 0.5), ()], 2) == pytest.approx(1.0)


@given(st.lists(logprobs, max_size=6), st.integers(1, 10))
def test_uncertainty_lies_in_the_unit_interval(steps: list[list[float]], top_k: int) -> None:
    assert -1e-12 <= normalised_uncertainty(steps, top_k) <= 1.0


def test_steps_that_were_not_observed_do_not_count_in_t() -> None:
    steps = (logs(0.5, 0.5), (), (-INF,), logs(1.0))
    assert step_uncertainties(steps, 4) == pytest.approx((0.5, 0.0))
    assert mean_uncertainty((0.5, 0.0, 1.0)) == pytest.approx(0.5)
    assert mean_uncertainty((0.5, 0.0, 1.0), horizon=2) == pytest.approx(0.25)
    assert mean_uncertainty(()) == 1.0


def test_a_common_horizons_own_baseline_decides() -> None:
    given_ = [Candidate(PassageKey("s", "0"), 0.25, 10, baseline=0.5)]
    report = admit(0.0, given_, IGPSettings())
    assert report.gains[0].gain == 0.25
    assert report.gains[0].baseline == 0.5


def test_gain_is_what_the_passage_takes_from_the_uncertainty() -> None:
    assert information_gain(0.5, 0.2) == pytest.approx(0.3)


# --- admission ---


def candidates(*uncertainties: float | None, tokens: Sequence[int] | None = None) -> list[Candidate]:
    lengths = tokens or [10] * len(uncertainties)
    return [
        Candidate(PassageKey("s", str(i)), nu, n)
        for i, (nu, n) in enumerate(zip(uncertainties, lengths, strict=True))
    ]


def ids(keys: Sequence[PassageKey]) -> str:
    return "".join(key.id for key in keys)


def test_sorts_by_gain_keeps_what_reaches_the_threshold_and_truncates() -> None:
    settings = IGPSettings(threshold=0.125, top_m=2)
    report = admit(0.5, candidates(0.375, 0.5, 0.25, 0.125, 0.75), settings)
    assert ids(report.admitted) == "32"
    assert ids([gain.key for gain in report.gains]) == "32014"
    assert [gain.rank for gain in report.gains] == [1, 2, 3, 4, 5]
    assert [gain.gain for gain in report.gains] == [0.375, 0.25, 0.125, 0.0, -0.25]
    reasons = [gain.reason for gain in report.gains]
    assert reasons[:2] == ["", ""]
    # A gain equal to T_p is admitted by the threshold; M stops it here.
    assert "2 passages that rank higher" in reasons[2]
    assert "under the threshold 0.125" in reasons[3]
    assert (report.baseline, report.top_k, report.max_tokens, report.threshold) == (0.5, 128, 32, 0.125)


def test_a_gain_just_under_the_threshold_is_told_apart_from_it() -> None:
    (gain,) = admit(0.5, candidates(0.4500004), IGPSettings(threshold=0.05)).gains
    assert gain.reason == "gain 0.0499996 is under the threshold 0.05"


def test_equal_gains_keep_the_retrievers_order() -> None:
    assert ids(admit(0.5, candidates(0.25, 0.25, 0.125, 0.25), IGPSettings()).admitted) == "2013"


def test_minus_infinity_only_reranks() -> None:
    settings = IGPSettings.model_validate({"threshold": "-inf", "top_m": None})
    report = admit(0.1, candidates(0.9, 0.5, 0.7), settings)
    assert ids(report.admitted) == "120"
    assert IGPSettings.model_validate_json(settings.model_dump_json()) == settings


def test_no_candidates_and_no_gain_admit_nothing() -> None:
    assert admit(0.5, [], IGPSettings()).gains == ()
    assert admit(0.5, candidates(0.5, 0.6), IGPSettings()).admitted == ()
    assert ids(admit(0.5, candidates(0.1), IGPSettings()).admitted) == "0"


def test_a_passage_that_does_not_fit_is_reported_and_a_shorter_one_may_enter() -> None:
    report = admit(0.9, candidates(0.1, 0.2, 0.3, tokens=[60, 50, 40]), IGPSettings(token_budget=100))
    assert ids(report.admitted) == "02"
    assert report.gains[1].reason == "50 tokens do not fit the 40 left of 100"
    alone = admit(0.9, candidates(0.1, tokens=[101]), IGPSettings(token_budget=100))
    assert alone.admitted == ()


def test_a_passage_longer_than_the_context_is_reported_last() -> None:
    report = admit(0.9, candidates(None, 0.95), IGPSettings(threshold=-INF))
    assert ids(report.admitted) == "1"
    assert report.gains[1].uncertainty is report.gains[1].gain is None
    assert report.gains[1].barred
    assert "model's context" in report.gains[1].reason


@pytest.mark.parametrize(("baseline", "nu"), [(math.nan, 0.1), (0.5, math.nan)])
def test_uncertainties_that_are_no_numbers_are_an_error(baseline: float, nu: float) -> None:
    with pytest.raises(ModelOutputError):
        admit(baseline, candidates(nu), IGPSettings())


@given(
    baseline=st.floats(0, 1),
    probed=st.lists(st.tuples(st.none() | st.floats(0, 1), st.integers(1, 50)), max_size=8),
    threshold=st.floats(-1, 1) | st.just(-INF),
    top_m=st.none() | st.integers(1, 4),
    budget=st.none() | st.integers(1, 100),
)
def test_admission_keeps_its_promises(
    baseline: float,
    probed: list[tuple[float | None, int]],
    threshold: float,
    top_m: int | None,
    budget: int | None,
) -> None:
    given_ = [Candidate(PassageKey("s", str(i)), nu, n) for i, (nu, n) in enumerate(probed)]
    settings = IGPSettings(threshold=threshold, top_m=top_m, token_budget=budget)
    report = admit(baseline, given_, settings)
    admitted = [gain for gain in report.gains if gain.admitted]
    assert sorted(gain.key for gain in report.gains) == sorted(c.key for c in given_)
    assert tuple(gain.key for gain in admitted) == report.admitted
    assert all(gain.gain >= threshold for gain in admitted)
    assert len(admitted) <= (top_m or len(given_))
    assert budget is None or sum(gain.tokens for gain in admitted) <= budget
    assert all(bool(gain.reason) != gain.admitted for gain in report.gains)
    measured = [g.gain for g in report.gains if not g.barred]
    assert measured == sorted(measured, reverse=True)


@pytest.mark.parametrize(
    "changes",
    [
        {"top_k": 0},
        {"max_tokens": 0},
        {"threshold": "nan"},
        {"threshold": 1.5},
        {"top_m": 0},
    ],
)
def test_settings_out_of_range_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        IGPSettings.model_validate(changes)
