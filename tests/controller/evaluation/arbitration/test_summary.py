from sufficit.controller.evaluation.arbitration.rows import ArbitrationRow
from sufficit.controller.evaluation.arbitration.summary import (
    Change,
    Grade,
    replayed,
    summarise,
    summary_grids,
)
from sufficit.policies.trustmargin import TrustMarginSettings, verdict_by_margin, verdict_without_scoring
from sufficit.policies.types import Likelihoods

SETTINGS = TrustMarginSettings()


def row(name, margin, **changes):
    """Direct says Bergen, RAG Oslo; M is `margin`, all of it prior."""
    verdict = verdict_by_margin(Likelihoods(0.0, margin, 0.0, 0.0, 0.0, 0.0), "Bergen", "Oslo", SETTINGS)
    values = {"id": name, "question": "Where?", "direct": "Bergen", "rag": "Oslo", "verdict": verdict}
    return ArbitrationRow(**(values | changes))


ROWS = [
    row("low", -3.0, answers=("Bergen",)),
    row("tied", -1.5, answers=("Oslo",)),
    row("high", 0.0),
    row("agreed", 0.0, verdict=verdict_without_scoring([object()], "Oslo", "Oslo", SETTINGS)),
    row("failed", 0.0, verdict=None, error="gone", answers=("Oslo",)),
]


def test_verdicts_are_counted_and_grades_taken_over_the_labelled_failures_included():
    found = summarise(ROWS, 0.5, -1.5)
    assert (found.questions, found.failed, found.ties, found.labelled) == (5, 1, 1, 3)
    assert found.failures == {"gone": 1}
    assert found.selected == {"direct": 2, "rag": 1, "agree": 1, "none": 0}
    third = Grade(1 / 3, 1 / 3)
    assert found.grades == {"direct": third, "rag": third, "chosen": third, "oracle": Grade(2 / 3, 2 / 3)}


def test_without_gold_answers_there_are_no_grades():
    found = summarise(ROWS[2:4], 0.5, -1.5)
    assert (found.labelled, found.grades) == (0, {})
    assert len(summary_grids(found)) == 1


def test_tables_name_what_there_is():
    counts, reasons, grades = summary_grids(summarise(ROWS, 0.5, -1.5))
    assert counts.rows == (
        ("direct", "2", "40%"),
        ("rag", "1", "20%"),
        ("agree", "1", "20%"),
        ("failed", "1", "20%"),
    )
    assert reasons.rows == (("1", "gone"),)
    assert ("chosen", "0.333", "0.333") in grades.rows


def test_a_replay_changes_what_lies_between_the_thresholds_and_leaves_the_rest():
    again, changes = replayed(ROWS, 0.5, -2.0, 1e-3)
    assert changes == [Change("tied", "direct", "rag", -1.5)]
    assert [one.verdict and one.verdict.source for one in again] == ["direct", "rag", "rag", "agree", None]
    assert [one.verdict.tau for one in again if one.verdict] == [-2.0] * 4
    assert again[4] == ROWS[4]
    assert replayed(ROWS, 0.5, -1.5, 1e-3) == (ROWS, [])
