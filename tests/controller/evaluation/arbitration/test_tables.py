from sufficit.controller.evaluation.arbitration.diagnostics import Coverage, Diagnostics, Gap, Method, Side
from sufficit.controller.evaluation.arbitration.report import Plugged, TrustMarginReport
from sufficit.controller.evaluation.arbitration.sweeps import Cell, Cost, Level
from sufficit.controller.evaluation.arbitration.tables import best_cell, trustmargin_grids
from sufficit.policies.resampling import Interval

HALF, LESS = Interval(0.5, 0.25, 0.75), Interval(-0.125, -0.25, 0.0)
COVERAGE = Coverage(10, {"NaN": 2, "out of reach": 1}, scored=4, agreed=2, others=1, tied=3)
CELLS = (
    Cell(0.5, -1.5, 0.5, 0.25, 0.1),
    Cell(0.5, 0.0, 0.75, 0.25, 0.1),
    Cell(1.0, -1.5, 0.75, 0.25, 0.1),
    Cell(1.0, 0.0, 0.625, 0.25, 0.1),
)


def report(**changes):
    methods = tuple(Method(name, HALF, HALF, LESS, LESS) for name in ("Direct", "TrustMargin"))
    gaps = (Gap("F1", "RAG", 0.0625, HALF), Gap("EM", "Direct", 0.0, None))
    sides = (Side("Direct", 3, HALF, LESS), Side("RAG", 0, None, None))
    values = {
        "coverage": COVERAGE,
        "diagnostics": Diagnostics(0.5, -1.5, methods, gaps, sides),
        "cells": CELLS,
        "levels": (),
        "pipelines": (Plugged("rag", HALF, HALF, LESS, LESS, COVERAGE),),
        "costs": {"rag": (Cost("direct", 1.25, 1.0),), "dtr": ()},
    }
    return TrustMarginReport(**(values | changes))


def by_title(found, beginning):
    (grid,) = [grid for grid in trustmargin_grids(found) if grid.title.startswith(beginning)]
    return grid


def test_every_row_is_as_wide_as_its_header():
    level = Level(0.5, 10, 1, None, HALF, 0.5, HALF, HALF)
    found = report(levels=(level,), pipelines=report().pipelines * 2)
    grids = trustmargin_grids(found)
    assert len(grids) == 9
    assert all(len(row) == len(grid.header) for grid in grids for row in grid.rows)


def test_coverage_adds_up_and_names_every_failure():
    grid = by_title(report(), "Coverage")
    assert grid.title == "Coverage: 7 of 10 questions"
    assert [count for _, count in grid.rows] == ["7", "3", "4", "3", "2", "1"]
    assert by_title(report(), "Why questions failed").rows == (("2", "NaN"), ("1", "out of reach"))


def test_trustmargin_is_not_compared_with_itself():
    direct, own = by_title(report(), "Answers at lambda 0.5, tau -1.5").rows
    assert direct == ("Direct", *["0.500 [0.250, 0.750]"] * 2, *["-0.125 [-0.250, +0.000]"] * 2)
    assert own == ("TrustMargin", *["0.500 [0.250, 0.750]"] * 2, "", "")


def test_what_there_was_none_of_stays_empty():
    assert by_title(report(), "Oracle gap").rows == (
        ("F1", "RAG", "0.062", "0.500 [0.250, 0.750]"),
        ("EM", "Direct", "0.000", ""),
    )
    assert by_title(report(), "Strict disagreements").rows[1] == ("RAG is better", "0", "", "")


def test_the_cells_are_sorted_and_the_first_of_the_best_is_marked():
    grid = by_title(report(), "F1 by tau")
    assert grid.header == ("tau", "0.5", "1")
    assert grid.rows == (("-1.5", "0.500", "0.750"), ("0", "0.750*", "0.625"))
    turned = by_title(report(cells=CELLS[::-1]), "F1 by tau")
    assert turned.rows == (("-1.5", "0.500", "0.750*"), ("0", "0.750", "0.625"))


def test_the_best_cell_is_that_of_the_best_f1_whatever_its_em():
    assert best_cell([Cell(0.5, 0.0, 0.5, 1.0, 0.0), Cell(1.0, 0.0, 0.75, 0.0, 0.0)]).weight == 1.0


def test_trials_that_were_not_run_have_no_table():
    titles = [grid.title for grid in trustmargin_grids(report())]
    assert not any(title.startswith(("Random passages", "What TrustMargin adds")) for title in titles)
    assert [title for title in titles if title.startswith("Seconds")] == ["Seconds a question, pipeline rag"]
    assert by_title(report(), "Seconds").rows == (("direct", "1.250", "1.000"),)


def test_levels_and_pipelines_by_hand():
    level = Level(1 / 3, 10, 1, None, HALF, 0.5, LESS, HALF)
    half, less = "0.500 [0.250, 0.750]", "-0.125 [-0.250, 0.000]"
    assert by_title(report(levels=(level,)), "Random passages").rows == (
        ("33%", "1", "", half, "0.500", less, half),
    )
    (first, _) = by_title(report(pipelines=report().pipelines * 2), "What TrustMargin adds").rows
    assert first == ("rag", "3", half, half, *["-0.125 [-0.250, +0.000]"] * 2)
