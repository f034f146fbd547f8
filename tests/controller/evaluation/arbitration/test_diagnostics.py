import numpy as np
import pytest
from arbitrated import failed, row
from sufficit.controller.evaluation.arbitration.diagnostics import coverage, diagnose
from sufficit.controller.evaluation.arbitration.outcomes import Outcomes

# Six questions on which memory is right, four on which the evidence is; two and three are chosen rightly.
MEMORY = [row(f"m{n}", "gold", "tin", prior=-3.0 if n < 2 else 0.0) for n in range(6)]
EVIDENCE = [row(f"e{n}", "tin", "gold", prior=0.0 if n < 3 else -3.0) for n in range(4)]


def diagnosed(rows, weight=0.5, tau=-1.5):
    return diagnose(Outcomes.of(rows), weight, tau)


def methods(rows):
    return {method.name: method for method in diagnosed(rows).methods}


def test_every_method_over_all_questions():
    found = methods(MEMORY + EVIDENCE)
    means = {name: round(method.f1.value, 6) for name, method in found.items()}
    assert means == {
        "Direct": 0.6,
        "RAG": 0.4,
        "TrustMargin": 0.5,
        "prior margin only": 0.5,
        "binding margin only": 0.4,
        "oracle": 1.0,
    }
    assert found["Direct"].f1_difference.value == pytest.approx(0.1)
    assert found["Direct"].em.low < 0.6 < found["Direct"].em.high


def test_a_failed_row_stays_in_the_denominator():
    found = methods([*MEMORY, *EVIDENCE, *(failed(f"f{n}") for n in range(10))])
    assert found["Direct"].f1.value == pytest.approx(0.3)
    assert found["oracle"].em.value == pytest.approx(0.5)


def test_the_gap_is_to_the_stronger_source():
    by_memory, _ = diagnosed(MEMORY + EVIDENCE).gaps
    assert (by_memory.measure, by_memory.stronger) == ("F1", "Direct")
    assert by_memory.gap == pytest.approx(0.4)
    assert by_memory.closed.value == pytest.approx((0.5 - 0.6) / 0.4)
    by_evidence, _ = diagnosed(MEMORY[:2] + EVIDENCE).gaps
    assert by_evidence.stronger == "RAG"
    # Five of six are right, four of them without choosing.
    assert by_evidence.closed.value == pytest.approx(0.5)


def test_perfect_choices_close_the_gap_in_every_draw():
    gap, _ = diagnosed(MEMORY[:2] + EVIDENCE[:3]).gaps
    assert (gap.closed.value, gap.closed.low, gap.closed.high) == pytest.approx((1.0, 1.0, 1.0))


def test_the_interval_of_the_gap_closed_holds_it_and_narrows():
    few, many = (diagnosed((MEMORY + EVIDENCE) * times).gaps[0].closed for times in (4, 40))
    assert few.low < few.value < few.high
    assert many.high - many.low < (few.high - few.low) / 2


def test_without_a_gap_nothing_can_be_closed():
    gap, _ = diagnosed(MEMORY).gaps
    assert (gap.gap, gap.closed) == (0.0, None)


def test_sides_tell_how_often_and_how_much():
    partly = row("e4", "tin", "gold and much else", prior=0.0)
    direct, rag = diagnosed([*MEMORY, *EVIDENCE, partly]).sides
    assert (direct.better, direct.questions, direct.selected.value) == ("Direct", 6, pytest.approx(2 / 6))
    assert direct.recovered.value == pytest.approx(2 / 6)
    assert (rag.better, rag.questions, rag.selected.value) == ("RAG", 5, pytest.approx(4 / 5))
    # Four times a whole point was to be had, and three were; the partial answer is worth 0.4.
    assert rag.recovered.value == pytest.approx(3.4 / 4.4)


def test_without_disagreements_there_are_no_sides():
    direct, rag = diagnosed([row("a", "gold", "gold"), failed("f")]).sides
    assert (direct.questions, direct.selected, rag.recovered) == (0, None, None)


def test_coverage_says_what_became_of_every_row():
    rows = [
        *MEMORY,
        row("agree", "gold", "Gold"),
        row("empty", "", "gold"),
        row("none", "", ""),
        row("tie", "gold", "tin", prior=-1.5),
        failed("f"),
        failed("g", "server gone"),
        failed("h"),
    ]
    found = coverage(rows)
    assert (found.questions, found.scored, found.agreed, found.others, found.tied) == (13, 7, 1, 2, 1)
    assert found.failed == {"NaN everywhere": 2, "server gone": 1}


def test_all_figures_are_finite():
    found = diagnosed([*MEMORY, failed("f")])
    assert all(np.isfinite([method.f1.low, method.em_difference.high]).all() for method in found.methods)
