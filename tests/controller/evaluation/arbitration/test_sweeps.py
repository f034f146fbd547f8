import pytest
from arbitrated import failed, row
from sufficit.controller.evaluation.arbitration.outcomes import Outcomes
from sufficit.controller.evaluation.arbitration.sweeps import corruption_level, costs, grid_cells


def test_every_lambda_meets_every_tau_once():
    rows = [row("m", "gold", "tin", prior=-1.0), row("e", "tin", "gold", prior=-2.0, binding=4.0)]
    cells = {(c.weight, c.tau): c for c in grid_cells(Outcomes.of(rows), [0.0, 0.5, 0.5], [-3, -1, -0.5, 5])}
    assert len(cells) == 8
    assert [cells[0.0, tau].f1 for tau in (-3, -1, -0.5, 5)] == [0.5, 0.5, 0.5, 0.5]
    assert [cells[0.0, tau].rag for tau in (-3, -1, -0.5, 5)] == [1.0, 0.0, 0.0, 0.0]
    # M is -1 and 0 at lambda 0.5: between them all is right.
    assert [cells[0.5, tau].em for tau in (-3, -1, -0.5, 5)] == [0.5, 1.0, 1.0, 0.5]


def test_a_level_counts_rag_where_there_was_a_choice():
    rows = [
        row("taken", "tin", "gold"),
        row("kept", "gold", "tin", prior=-9.0),
        row("empty", "", "gold"),
        row("agree", "gold", "gold"),
        failed("f"),
    ]
    level = corruption_level(0.5, rows, 0.5, -1.5)
    assert (level.share, level.questions, level.failed) == (0.5, 5, 1)
    assert level.selected.value == pytest.approx(2 / 3)
    assert level.selected_of_all.value == pytest.approx(2 / 5)
    assert (level.direct, level.rag.value, level.trustmargin.value) == pytest.approx((0.4, 0.6, 0.8))
    assert corruption_level(1.0, [row("agree", "gold", "gold")], 0.5, -1.5).selected is None


def test_costs_add_up_by_method():
    times = [
        {"direct": 1.0, "retrieval": 0.1, "rag": 2.0, "scoring": 3.0},
        {"direct": 2.0, "retrieval": 0.1, "rag": 4.0, "scoring": 0.0},
        {"direct": 3.0, "retrieval": 0.1, "rag": 9.0, "scoring": 0.0},
    ]
    rows = [row(str(n), "gold", "tin", seconds=seconds) for n, seconds in enumerate(times)]
    found = {cost.name: cost for cost in costs([*rows, failed("f", seconds={"direct": 99.0})])}
    assert (found["Direct"].mean, found["Direct"].median) == pytest.approx((2.0, 2.0))
    assert (found["RAG"].mean, found["RAG"].median) == pytest.approx((5.1, 4.1))
    assert (found["TrustMargin"].mean, found["TrustMargin"].median) == pytest.approx((8.1, 6.1))
    assert found["of it, six likelihoods"].mean == pytest.approx(1.0)
    assert costs([failed("f")]) == ()
