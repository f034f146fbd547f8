import numpy as np
import pytest
from prediction_rows import row
from sufficit.controller.evaluation.runs.risk import Point, area, curve, selection

ALL = np.ones((1, 5))


def answered(score: float | None, right: bool):
    return row("q", score=score, answer="right" if right else "wrong")


FIVE = [
    answered(0.1, False),
    answered(0.9, True),
    row("q", action="abstain", score=2.0),
    answered(0.5, False),
    answered(0.7, True),
]
"""By score: right, right, wrong, wrong; one of five is not answered."""


def test_the_curve_and_its_area_by_hand():
    chosen = selection(FIVE)
    assert curve(chosen) == (
        Point(0.2, 0.0),
        Point(0.4, 0.0),
        Point(0.6, pytest.approx(1 / 3)),
        Point(0.8, 0.5),
    )
    assert area(chosen) == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert chosen.coverage(ALL) == pytest.approx([0.8])


def test_risk_at_a_coverage_between_two_questions():
    chosen = selection(FIVE)
    assert chosen.risk(ALL, np.array([0.4])) == pytest.approx([0.0])
    # Two right ones and half of a wrong one.
    assert chosen.risk(ALL, np.array([0.5])) == pytest.approx([0.5 / 2.5])
    assert np.isnan(chosen.risk(ALL, np.array([0.0])))


def test_equal_scores_are_taken_at_random_on_average():
    tied = [answered(0.5, True), answered(0.5, False), answered(0.9, True), answered(0.5, False)]
    chosen = selection(tied)
    assert curve(chosen) == (Point(0.25, 0.0), Point(1.0, 0.5))
    # One right for certain, then one of three of which two are wrong.
    assert chosen.risk(np.ones((1, 4)), np.array([0.5])) == pytest.approx([(2 / 3) / 2])
    assert area(chosen) == pytest.approx((0 + (2 / 3) / 2 + (4 / 3) / 3 + 2 / 4) / 4)
    assert selection(tied[::-1]).risk(np.ones((1, 4)), np.array([0.5])) == pytest.approx([1 / 3])


def test_an_answer_without_a_score_stands_last():
    chosen = selection([answered(None, False), answered(-5.0, True)])
    assert curve(chosen) == (Point(0.5, 0.0), Point(1.0, 0.5))


def test_questions_count_as_often_as_they_are_drawn():
    times = np.array([[0.0, 1.0, 3.0, 1.0, 0.0]])
    chosen = selection(FIVE)
    assert chosen.coverage(times) == pytest.approx([0.4])
    assert chosen.risk(times, np.array([0.4])) == pytest.approx([0.5])
    assert chosen.risk(times, np.array([0.2])) == pytest.approx([0.0])


def test_where_nothing_is_answered_there_is_no_risk():
    chosen = selection([row("q", action="abstain"), row("r", action="failed")])
    assert curve(chosen) == ()
    assert area(chosen) is None
    assert chosen.coverage(np.ones((1, 2))) == pytest.approx([0.0])
    assert np.isnan(chosen.risk(np.ones((1, 2)), np.array([0.0])))
