import math

import pytest
from prediction_rows import row
from sufficit.controller.evaluation.runs.comparison import EQUAL_RISK, OWN_RISK, RANKED_RISK, compare_rows
from sufficit.controller.evaluation.runs.rows import StageCost
from sufficit.tools.errors import InputError


def answered(place: int, right: bool, **changes: object):
    return row(f"q{place}", answer="right" if right else "wrong", score=-float(place), **changes)


def by_name(comparison):
    return {found.measure: found for found in comparison.differences}


def selective(place: int):
    """Answers the first 40 of 100, all but each fourth right."""
    return answered(place, place % 4 != 0) if place < 40 else row(f"q{place}", action="abstain")


CAREFUL = [selective(place) for place in range(100)]
CARELESS = [answered(place, place % 4 != 0 and place < 80) for place in range(100)]
"""Answers everything, the first 40 as the careful one."""


def test_means_differences_and_what_is_real():
    found = compare_rows("careful", CAREFUL, "careless", CARELESS)
    assert (found.questions, found.left_out) == (100, 0)
    measures = by_name(found)
    f1 = measures["F1"]
    assert (f1.first, f1.second, f1.difference.value) == pytest.approx((0.3, 0.6, 0.3))
    # 30 of 100 questions differ, all by 1: a binomial.
    assert f1.difference.low == pytest.approx(0.3 - 1.96 * (0.3 * 0.7 / 100) ** 0.5, abs=0.015)
    assert f1.real
    assert measures["coverage"].difference.value == pytest.approx(0.6)
    assert measures["EM"].first == pytest.approx(0.3)
    assert not measures["failed"].real


def test_risk_is_compared_at_equal_coverage():
    found = compare_rows("careful", CAREFUL, "careless", CARELESS)
    measures = by_name(found)
    assert found.equal_coverage == pytest.approx(0.4)
    own = measures[OWN_RISK]
    assert (own.first, own.second) == pytest.approx((0.25, 0.4))
    # The first forty by score are answered alike.
    equal = measures[EQUAL_RISK]
    assert (equal.first, equal.second) == pytest.approx((0.25, 0.25))
    assert (equal.difference.low, equal.difference.high) == pytest.approx((0, 0), abs=1e-9)
    assert not equal.real
    turned = by_name(compare_rows("careless", CARELESS, "careful", CAREFUL))[OWN_RISK]
    assert turned.difference.value == pytest.approx(-own.difference.value)


def test_without_scores_a_smaller_coverage_is_taken_at_random():
    blind = [one.model_copy(update={"score": None}) for one in CARELESS]
    equal = by_name(compare_rows("careful", CAREFUL, "blind", blind))[EQUAL_RISK]
    assert (equal.first, equal.second) == pytest.approx((0.25, 0.4))
    assert equal.difference.low < 0.15 < equal.difference.high


@pytest.mark.parametrize("threshold", [-math.inf, math.inf])
def test_what_always_answers_does_not_choose_by_the_score_that_it_ignores(threshold):
    always = [one.model_copy(update={"threshold": threshold}) for one in CARELESS]
    measures = by_name(compare_rows("careful", CAREFUL, "always", always))
    assert measures[EQUAL_RISK].second == pytest.approx(0.4)
    assert measures[RANKED_RISK].second == pytest.approx(0.25)


def test_costs_are_over_all_and_times_over_what_neither_failed_on():
    dear = {"write": StageCost(model_calls=1, generated_tokens=3, prompt_tokens=97)}
    one = [answered(0, True, timings={"total": 1.0}), row("q1", action="failed")]
    two = [
        answered(0, True, timings={"total": 3.0}, stages=dear),
        row("q1", timings={"total": 9.0}),
    ]
    measures = by_name(compare_rows("one", one, "two", two))
    assert (measures["tokens"].first, measures["tokens"].second) == (0, 50)
    assert measures["model calls"].difference.value == 0.5
    assert (measures["seconds"].questions, measures["seconds"].difference.value) == (1, 2.0)
    assert measures["failed"].difference.value == -0.5


def test_only_common_questions_are_compared():
    found = compare_rows("one", CAREFUL[:60], "two", CARELESS[40:])
    assert (found.questions, found.left_out, found.equal_coverage) == (20, 80, None)
    assert EQUAL_RISK not in by_name(found)


def test_runs_that_cannot_be_compared_are_refused():
    with pytest.raises(InputError, match="share no question"):
        compare_rows("one", CAREFUL[:10], "two", CARELESS[10:])
    other = row("q0", question="Something else?")
    with pytest.raises(InputError, match="'q0' is not the same"):
        compare_rows("one", CAREFUL, "two", [other])


def test_questions_without_answers_have_no_quality_to_compare():
    bare = [row("a", answers=())]
    measures = by_name(compare_rows("one", bare, "two", bare))
    assert set(measures) == {"coverage", "failed", "tokens", "model calls", "reader calls"}


@pytest.mark.parametrize(("questions", "real"), [(1, False), (5, False), (6, True)])
def test_a_handful_that_all_differ_one_way_shows_nothing(questions, real):
    right, wrong = ([answered(place, how) for place in range(questions)] for how in (True, False))
    f1 = by_name(compare_rows("wrong", wrong, "right", right))["F1"]
    assert (f1.difference.low, f1.real) == (1, real)
