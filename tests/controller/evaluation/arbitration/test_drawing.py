"""Figures as they lie on the disk: in SVG every text that is drawn stands in a comment too."""

import re

import pytest
from arbitrated import SETTINGS, failed, row
from sufficit.controller.evaluation.arbitration.drawing import draw_grid, draw_report
from sufficit.controller.evaluation.arbitration.plan import Plan, plan_trials
from sufficit.controller.evaluation.arbitration.report import TrustMarginReport, trustmargin_report
from sufficit.controller.evaluation.arbitration.sweeps import Cell
from sufficit.tools.errors import SettingsError, StorageError

ROWS = [row("a", "gold", "tin", prior=-3.0), row("b", "tin", "gold"), failed("c")]
pytest.importorskip("matplotlib")


def reported(rows, *shares: float) -> TrustMarginReport:
    corrupted = [
        one.model_copy(update={"variant": f"corruption={share:g}"}) for share in shares for one in rows
    ]
    trials = plan_trials(Plan(shares=shares))
    return trustmargin_report([*rows, *corrupted], trials, SETTINGS, (0.5, 1.0), (-2.0, 0.0))


def texts(path) -> list[str]:
    return re.findall("<!-- (.*?) -->", path.read_text(), re.DOTALL)


def test_a_run_without_corruption_has_two_figures(tmp_path):
    files = draw_report(reported(ROWS), tmp_path / "new" / "plots")
    assert [file.name for file in files] == ["grid.svg", "recovery.svg"]
    assert sorted(files) == sorted((tmp_path / "new" / "plots").iterdir())
    assert {"F1", "lambda", "tau", "0.5", "-1.5", "this run", "best"} <= set(texts(files[0]))
    shown = " ".join(texts(files[1]))
    for text in ("chosen", "F1 recovered", "Direct is better", "RAG is better", "(1)"):
        assert text in shown


def test_every_level_of_corruption_is_on_the_line_of_every_series(tmp_path):
    drawn = draw_report(reported(ROWS, 0.5, 1.0), tmp_path)[2]
    assert drawn.name == "corruption.svg"
    assert {"RAG chosen", "RAG F1", "TrustMargin F1", "share of random passages"} <= set(texts(drawn))
    assert lines(drawn) == [3, 3, 3]  # the plain run is the first level


def lines(path) -> list[int]:
    """How many points every series has."""
    series = re.findall(r'<path d="([^"]*)" clip-path="[^"]*" style="fill: none; stroke: #', path.read_text())
    return [path.count("M") + path.count("L") for path in series]


@pytest.mark.parametrize(
    "rows",
    [
        [row("a", "gold", "gold")],
        [row("a", "tin", "tin"), row("b", "", "gold")],
        # The better source is memory alone, and always chosen.
        [row("a", "gold", "tin", prior=-3.0)],
    ],
    ids=["agreed", "nothing to choose from", "one side"],
)
def test_what_did_not_occur_is_left_out(tmp_path, rows):
    files = draw_report(reported(rows, 1.0), tmp_path, "png")
    assert [file.read_bytes()[:4] for file in files] == [b"\x89PNG"] * 3


def test_where_rag_was_never_one_of_two_its_line_is_empty_and_the_others_stand(tmp_path):
    assert lines(draw_report(reported([row("a", "gold", "gold")], 1.0), tmp_path)[2]) == [2, 2]


def test_a_grid_shows_the_measure_it_is_asked_for(tmp_path):
    cells = [Cell(0.5, tau, f1=10 * number, em=number, rag=1.0) for number, tau in enumerate((-1.5, 0.0))]
    draw_grid(cells, {"chosen": ("s", cells[1])}, "EM", tmp_path / "grid.svg")
    shown = texts(tmp_path / "grid.svg")
    assert {"EM", "chosen", "-1.5"} <= set(shown)
    assert "F1" not in shown
    # The colour bar ends at the best exact match.
    assert "1.0" in shown
    assert "10" not in shown


def test_a_grid_of_one_cell_is_drawn(tmp_path):
    cell = Cell(0.5, -1.5, f1=0.25, em=0.125, rag=1.0)
    draw_grid([cell], {"chosen": ("s", cell)}, "F1", tmp_path / "grid.svg")
    assert {"F1", "chosen", "0.5"} <= set(texts(tmp_path / "grid.svg"))


def test_a_place_or_a_format_that_does_not_do_is_said(tmp_path):
    with pytest.raises(SettingsError, match="xyz"):
        draw_report(reported(ROWS), tmp_path, "xyz")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        draw_report(reported(ROWS), tmp_path / "file")
