import pytest
from prediction_rows import row
from sufficit.controller.evaluation.runs.summary import Abstention, summarise
from sufficit.tools.errors import InputError

ROWS = [
    row("a", answer="right", score=2.0),
    row("b", answer="right or so", score=1.0),
    row("c", answer="wrong", score=0.0),
    row("d", action="abstain"),
    row("e", action="failed", error="no such model"),
    row("f", action="abstain", answers=(), answerable=False),
    row("g", answers=(), answerable=None, answer="whatever"),
    row("h", answer="right", answers=(), answerable=False, score=3.0),
]


def test_coverage_counts_every_question_and_quality_those_that_can_be_graded():
    found = summarise("full", ROWS)
    assert (found.questions, found.answered, found.abstained, found.failed) == (8, 5, 2, 1)
    assert found.coverage == 5 / 8
    quality = found.quality
    assert quality.questions == 7
    # Right: a, f. In part: b (2 * 1 / 4). Within: a, b, f.
    assert quality.exact.value == pytest.approx(2 / 7)
    assert quality.f1.value == pytest.approx(2.5 / 7)
    assert quality.within.value == pytest.approx(3 / 7)
    assert quality.exact.low < quality.exact.value < quality.exact.high
    # Losses by score: h 1, a 0, b 0.5, c 1.
    assert quality.risk.value == pytest.approx(2.5 / 4)
    assert quality.area == pytest.approx((1 + 1 / 2 + 1.5 / 3 + 2.5 / 4) / 4)
    assert quality.curve[-1].coverage == pytest.approx(4 / 7)


def test_abstention_where_answerability_is_known():
    known = [one.model_copy(update={"answerable": True}) for one in ROWS[:5]]
    failed = row("i", action="failed", answers=(), answerable=False)
    found = summarise("full", [*known, ROWS[5], ROWS[7], failed]).abstention
    # Two abstentions, one of them right; three unanswerable, one answered and one failed.
    assert found == Abstention(8, 3, 2, precision=1 / 2, recall=pytest.approx(1 / 3))
    assert summarise("full", ROWS[:5]).abstention is None


def test_nothing_answered_has_neither_risk_nor_precision_of_abstention():
    found = summarise("none", [row("a", action="failed", answerable=True)])
    assert found.quality.risk is None
    assert found.quality.area is None
    assert found.abstention == Abstention(1, 0, 0, None, None)


def test_ungraded_questions_have_no_quality():
    found = summarise("full", [ROWS[6]])
    assert (found.quality, found.support, found.coverage) == (None, None, 1.0)


def test_no_rows_are_said():
    with pytest.raises(InputError, match="full has no rows"):
        summarise("full", [])
