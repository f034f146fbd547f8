import pytest
from arbitrated import failed, row
from sufficit.controller.evaluation.arbitration.outcomes import Outcomes
from sufficit.controller.evaluation.arbitration.rows import rejudged
from sufficit.tools.normalisation import f1

ROWS = [
    row("memory right, kept", "gold", "tin", prior=-3.0),
    row("memory right, overruled", "gold", "tin", prior=-1.0),
    row("evidence right, taken", "tin", "gold", prior=-2.0, binding=2.0),
    row("evidence right, ignored", "tin", "gold", prior=-2.0),
    row("one answer", "gold", "the gold"),
    row("empty memory", "", "gold"),
    row("empty evidence", "gold", ""),
    row("both empty", "", ""),
    failed("failed"),
]
KEPT, OVERRULED, TAKEN, IGNORED, *UNSCORED, FAILED = range(len(ROWS))


def test_grades_of_both_answers_and_the_better_one():
    found = Outcomes.of(ROWS)
    assert found.direct[:, 0].tolist() == [1, 1, 0, 0, 1, 0, 1, 0, 0]
    assert found.rag[:, 1].tolist() == [0, 0, 1, 1, 1, 1, 0, 0, 0]
    assert found.oracle[:, 0].tolist() == [1, 1, 1, 1, 1, 1, 1, 0, 0]


def test_the_margins_decide_strictly():
    found = Outcomes.of(ROWS)
    assert found.takes_rag(0.5, -1.5)[:4].tolist() == [False, True, True, False]
    assert found.takes_rag(0.5, -1.0)[:4].tolist() == [False, False, False, False]
    assert found.chosen(0.5, -1.5)[:, 0].tolist() == [1, 0, 1, 0, 1, 1, 1, 0, 0]


def test_either_margin_alone():
    found = Outcomes.of(ROWS)
    assert found.takes_rag(0.0, -1.5)[:4].tolist() == [False, True, False, False]
    assert found.takes_rag(0.5, 0.5, prior=False)[:4].tolist() == [False, False, True, False]


def test_what_needed_no_scoring_stands_and_a_failure_is_never_right():
    found = Outcomes.of(ROWS)
    for tau in (-9.0, 9.0):
        assert found.chosen(0.5, tau)[4:, 0].tolist() == [1, 1, 1, 0, 0]
        assert found.takes_rag(0.5, tau)[4:].tolist() == [False, True, False, False, False]
    assert found.between.tolist() == [True, True, True, True, False, True, True, False, False]


@pytest.mark.parametrize("weight", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("tau", [-4.0, -1.5, 0.0])
def test_arrays_decide_as_the_verdicts_do(weight, tau):
    rows = [row(str(n), "tin gold", "gold", prior=-n / 7, binding=n % 5 - 2.0) for n in range(40)] + ROWS
    expected = [f1(rejudged(one, weight, tau).answer, one.answers) for one in rows]
    assert Outcomes.of(rows).chosen(weight, tau)[:, 0].tolist() == pytest.approx(expected)
