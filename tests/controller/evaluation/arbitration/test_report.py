import pytest
from arbitrated import SETTINGS, failed, row
from sufficit.controller.evaluation.arbitration.plan import Plan, plan_trials
from sufficit.controller.evaluation.arbitration.report import trustmargin_report
from sufficit.controller.evaluation.arbitration.tables import trustmargin_grids
from sufficit.tools.errors import InputError

SECONDS = {"direct": 0.5, "retrieval": 0.001, "rag": 1.0, "scoring": 0.25}
ROWS = [
    row("a", "gold", "tin", prior=-3.0, seconds=SECONDS),
    row("b", "tin", "gold", seconds=SECONDS),
    failed("c"),
]


def reported(plan, rows):
    return trustmargin_report(rows, plan_trials(plan), SETTINGS, (0.5, 1.0), (-2.0, 0.0))


def variant(name, rows):
    return [one.model_copy(update={"variant": name}) for one in rows]


def test_coverage_comes_first_and_names_what_failed():
    first, why, *rest = trustmargin_grids(reported(Plan(), ROWS))
    assert first.title == "Coverage: 2 of 3 questions"
    assert ("failed, counted as wrong", "1") in first.rows
    assert why.rows == (("1", "NaN everywhere"),)
    assert [grid.title.partition(" ")[0] for grid in rest] == ["Answers", "Oracle", "Strict", "F1", "Seconds"]


def test_the_grid_holds_the_runs_own_setting_and_marks_the_best():
    report = reported(Plan(), ROWS)
    assert {(cell.weight, cell.tau) for cell in report.cells} >= {(0.5, -1.5), (1.0, 0.0)}
    grid = next(g for g in trustmargin_grids(report) if g.title.startswith("F1 by tau"))
    assert sum(cell.endswith("*") for line in grid.rows for cell in line) == 1


def test_corruption_begins_with_the_plain_run():
    worse = [row("a", "gold", "tin", prior=-3.0), row("b", "tin", "gold", prior=-3.0), failed("c")]
    report = reported(Plan(shares=(0.0, 1.0)), ROWS + variant("corruption=1", worse))
    assert [level.share for level in report.levels] == [0.0, 1.0]
    assert [level.selected.value for level in report.levels] == [0.5, 0.0]
    titles = [grid.title for grid in trustmargin_grids(report)]
    assert any(title.startswith("Random passages") for title in titles)


def test_pipelines_alone_and_with_arbitration():
    other = [row("a", "gold", "tin"), row("b", "tin", "gold"), row("c", "gold", "gold")]
    report = reported(Plan(("rag", "dtr")), ROWS + variant("pipeline=dtr", other))
    rag, dtr = report.pipelines
    assert (rag.pipeline, rag.f1.value, rag.f1_gain.value) == (
        "rag",
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
    )
    assert (dtr.pipeline, dtr.em.value, dtr.em_gain.value) == ("dtr", pytest.approx(2 / 3), 0.0)
    assert (len(rag.coverage.failed), len(dtr.coverage.failed)) == (1, 0)
    grid = next(g for g in trustmargin_grids(report) if g.title.startswith("What TrustMargin adds"))
    assert [line[:2] for line in grid.rows] == [("rag", "1"), ("dtr", "0")]


def test_a_run_in_which_all_failed_says_why():
    with pytest.raises(InputError, match="no question could be run; the first: NaN everywhere"):
        reported(Plan(), [failed("a"), failed("b")])
