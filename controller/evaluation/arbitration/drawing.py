"""Figures 4, 5 and 6 of TrustMargin, as far as the run has them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..plots import new_figure, plot_lines, save_figure
from .outcomes import Measure
from .report import TrustMarginReport
from .sweeps import Cell
from .tables import best_cell


def draw_report(report: TrustMarginReport, folder: Path, suffix: str = "svg") -> list[Path]:
    """Draw `grid`, `recovery` and, after corrupted trials, `corruption` into a folder; returns the files.

    Raises SettingsError where matplotlib is not installed or does not know the suffix, StorageError.
    """
    files = [folder / f"grid.{suffix}", folder / f"recovery.{suffix}"]
    at = report.diagnostics.weight, report.diagnostics.tau
    here = next(cell for cell in report.cells if (cell.weight, cell.tau) == at)
    marks = {"this run": ("s", here), "best": ("*", best_cell(report.cells))}
    draw_grid(report.cells, marks, "F1", files[0])
    _draw_sides(report, files[1])
    if report.levels:
        files.append(folder / f"corruption.{suffix}")
        chosen = [(level.share, level.selected.value) for level in report.levels if level.selected]
        series = {
            "RAG chosen": chosen,
            "RAG F1": [(level.share, level.rag.value) for level in report.levels],
            "TrustMargin F1": [(level.share, level.trustmargin.value) for level in report.levels],
        }
        plot_lines(series, "share of random passages", "rate, F1", files[2])
    return files


def draw_grid(
    cells: Sequence[Cell], marks: Mapping[str, tuple[str, Cell]], measure: Measure, path: Path
) -> None:
    """A heat map of one measure; `marks` gives, by label, a marker of matplotlib and the cell that it marks.

    Raises SettingsError where matplotlib is not installed or does not know the suffix, StorageError.
    """
    weights = sorted({cell.weight for cell in cells})
    taus = sorted({cell.tau for cell in cells})
    by_place = {(cell.tau, cell.weight): cell.graded(measure) for cell in cells}
    figure = new_figure(7.0)
    axes = figure.add_subplot()
    values = np.array([[by_place[tau, weight] for weight in weights] for tau in taus])
    image = axes.imshow(values, aspect="auto", origin="lower")
    axes.set_xticks(range(len(weights)), [f"{weight:g}" for weight in weights])
    axes.set_yticks(range(len(taus)), [f"{tau:g}" for tau in taus])
    axes.set_xlabel("lambda")
    axes.set_ylabel("tau")
    for label, (mark, cell) in marks.items():
        place = [weights.index(cell.weight)], [taus.index(cell.tau)]
        axes.plot(*place, mark, color="red", markerfacecolor="none", markersize=12, label=label)
    figure.colorbar(image, label=measure)
    figure.legend(loc="outside upper right", fontsize="small", ncols=2)
    save_figure(figure, path)


def _draw_sides(report: TrustMarginReport, path: Path) -> None:
    """How often each source is chosen where it is better, and the share of F1 recovered there."""
    figure = new_figure(6.0)
    axes = figure.add_subplot()
    sides = report.diagnostics.sides
    series = {"chosen": [side.selected for side in sides], "F1 recovered": [side.recovered for side in sides]}
    for number, (label, values) in enumerate(series.items()):
        known = [(place, found) for place, found in enumerate(values) if found is not None]
        axes.bar(
            [place + 0.35 * (number - 0.5) for place, _ in known],
            [found.value for _, found in known],
            0.35,
            yerr=np.array([(found.value - found.low, found.high - found.value) for _, found in known]).T
            if known
            else None,
            capsize=2,
            label=label,
        )
    axes.set_xticks(range(len(sides)), [f"{side.better} is better\n({side.questions})" for side in sides])
    axes.set_ylabel("share")
    figure.legend(loc="outside upper right", fontsize="small", ncols=2)
    save_figure(figure, path)
