from prediction_rows import found, row, write_run
from sufficit.controller.evaluation.runs.report import read_report
from sufficit.controller.evaluation.runs.rows import StageCost
from sufficit.controller.evaluation.runs.tables import explanation_grid, overview_grid, report_grids

ROWS = [
    row(
        "a",
        score=1.0,
        answerable=True,
        support=("x",),
        retrieved=(found("x", "y"),),
        pool=found("x", "y"),
        admitted=found("x"),
        read=found("x"),
        citations=found("x"),
        stages={"open": StageCost(model_calls=2, generated_tokens=8, prompt_tokens=20), "prune": StageCost()},
        timings={"total": 1.5},
    ),
    row("b", action="abstain", answerable=True, support=("z",)),
]


def test_what_abstained_after_a_fault_is_counted(tmp_path):
    rows = [row("a", action="abstain", faults=("retrieve: broken",)), row("b", faults=("fetch: slow",))]
    (coverage, *_) = report_grids(read_report(write_run(tmp_path, {"full": rows})))
    assert coverage.header[5] == "of these after a fault"
    assert coverage.rows[0] == ("full", "2", "50.0%", "1", "1", "1", "0")


def test_tables_by_hand_and_coverage_first(tmp_path):
    answering = [ROWS[0], row("b", answer="wrong", score=0.0, answerable=True, support=("z",))]
    grids = report_grids(read_report(write_run(tmp_path, {"full": ROWS, "always": answering})))
    titles = [grid.title.partition(":")[0] for grid in grids]
    assert titles[0] == "Coverage"
    assert grids[0].rows[0] == ("full", "2", "50.0%", "1", "1", "0", "0")
    by_title = {grid.title: grid for grid in grids}
    quality = next(grid for title, grid in by_title.items() if title.startswith("Quality"))
    assert quality.rows[0][:2] == ("full", "2")
    assert quality.rows[0][2].startswith("0.500 [0.000, 1.000]")
    assert quality.rows[0][5:] == ("0.000 [0.000, 0.000]", "0.000")
    difference = next(grid for title, grid in by_title.items() if title.startswith("always less full"))
    assert "equal coverage 50.0%" in difference.title
    assert ("coverage", "2", "0.500", "1.000", "+0.500 [+0.000, +1.000]", "no") in difference.rows
    overview = by_title["Every configuration less full, 95% intervals"]
    assert overview.rows[0][1].startswith("+0.000 [")
    assert overview.rows[0][4:] == ("50.0%", "no real difference, at most 0.000 higher")
    support = by_title["Annotated support by stage"]
    assert ("full", "pool", "0.500 (2)", "50.0%", "1.000 (1)") in support.rows
    assert ("full", "precision of citations", "1.000 (1)", "", "") in support.rows
    costs = next(grid for title, grid in by_title.items() if title.startswith("Mean cost of a question"))
    assert costs.header[-1] == "reader calls"
    assert costs.rows[0] == ("full", "open", "1.0", "4.0", "10.0", "0.0")
    assert costs.rows[2] == ("full", "total", "1.0", "4.0", "10.0", "0.0")
    assert ("full", "total", "1", "1.50", "1.50") in by_title["Seconds of a question"].rows
    failures = by_title["Failures by their nearest cause"]
    assert failures.header == ("group", "full (1 of 2)", "always (1 of 2)")
    assert ("not retrieved", "1", "1") in failures.rows
    for grid in grids:
        assert {len(line) for line in grid.rows} == {len(grid.header)}


def test_tables_that_would_be_empty_are_left_out(tmp_path):
    grids = report_grids(read_report(write_run(tmp_path, {"bare": [row("a", answers=())]})))
    assert [grid.title.partition(" ")[0] for grid in grids] == ["Coverage:", "Failures", "Mean"]


def test_an_explanation_names_examples_and_meanings(tmp_path):
    grid = explanation_grid(read_report(write_run(tmp_path, {"full": ROWS})).failures[0])
    lost = next(line for line in grid.rows if line[0] == "not retrieved")
    assert lost[1:3] == ("1", "b")
    assert lost[3].startswith("Some document that the question needs is not in the pool.")


def test_the_overview_says_whose_risk_is_lower(tmp_path):
    right = [row(f"q{n}", score=float(n)) for n in range(20)]
    wrong = [row(f"q{n}", score=float(n), answer="wrong") for n in range(20)]
    for place, (first, second, verdict) in enumerate([(right, wrong, "lower"), (wrong, right, "higher")]):
        report = read_report(write_run(tmp_path / str(place), {"full": first, "other": second}))
        assert overview_grid(report.comparisons).rows[0][-1] == verdict
