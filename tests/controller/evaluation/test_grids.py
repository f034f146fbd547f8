from scores import graded, row
from sufficit.controller.evaluation.contrasts.comparison import compare
from sufficit.controller.evaluation.contrasts.scores import ScoreTable
from sufficit.controller.evaluation.grids import accuracy_grid, comparison_grids, markdown


def tables():
    first = graded("a", [True, True, False, True])
    rows = {**graded("b", [False] * 4, note="cut").rows, "x": row("x", "gx", True, None, skipped="a | b")}
    return [first, ScoreTable("b", rows, frozenset({("f", "c")}), 1)]


def test_every_scorer_has_a_row_and_every_set_a_column():
    grid = accuracy_grid(compare(tables()))
    assert grid.header == ("scorer", "f c (4)", "families", "average", "minimum")
    assert [line[0] for line in grid.rows] == ["a", "b"]
    assert grid.rows[0][1].startswith("0.750 [")
    assert grid.rows[1][1] == "0.000 [0.000, 0.000]*"
    assert "fitted on this family" in grid.title


def test_markdown_holds_all_tables_and_escapes_bars():
    page = markdown("Scorers", comparison_grids(compare(tables())))
    assert page.startswith("## Scorers\n\n### Pairwise accuracy")
    assert "| b | 1 | a \\| b |" in page
    assert "| b | 8 | cut |" in page
    assert "Difference from a" in page
    assert "-0.750" in page
