"""`sufficit calibrate-arbiter`: lambda and tau of TrustMargin for one's own generator and questions."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ...tools.errors import InputError
from ..console import out, print_json, say
from .drawing import plot_option
from .report import print_grids
from .settings import AsJson

if TYPE_CHECKING:
    from ..evaluation.arbitration.calibration import Calibration, SettingGrid
    from ..evaluation.grids import Grid

_LOSES = "Choosing loses to the published setting on held-out questions: keep that one."


def calibrate_arbiter(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Verdicts that `arbitrate` or `eval trustmargin` wrote."),
    ],
    measure: Annotated[Literal["f1", "em"], typer.Option(help="What to make as large as possible.")] = "f1",
    folds: Annotated[int, typer.Option(min=2, max=20, help="Folds of the cross-validation.")] = 5,
    weights: Annotated[
        list[float] | None, typer.Option("--lambda", help="A lambda to try; may be repeated.")
    ] = None,
    taus: Annotated[list[float] | None, typer.Option("--tau", help="A tau to try; may be repeated.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws the folds and the interval.")] = 17,
    path: Annotated[Path | None, typer.Option("--out", help="Write the settings to this TOML file.")] = None,
    plot: Annotated[Path | None, plot_option("Draw the grid")] = None,
    as_json: AsJson = False,
) -> None:
    """Choose lambda and tau on the labelled questions of FILE, and say what they gain on held-out ones."""
    from ..evaluation.arbitration.calibration import calibrate  # noqa: PLC0415  numpy, only wanted here
    from ..evaluation.arbitration.rows import plain_rows, read_rows  # noqa: PLC0415
    from ..evaluation.new_file import check_new, write_new  # noqa: PLC0415

    if path:
        check_new(path)
    grid = _grid(weights, taus)
    _, rows = read_rows(file)
    found = calibrate(plain_rows(rows), "F1" if measure == "f1" else "EM", grid, folds, seed)
    if plot:
        _draw(found, plot)
    if path:
        write_new(path, snippet(found))
    if as_json:
        print_json(asdict(found) | {"out": str(path) if path else None})
        return
    print_grids(_tables(found))
    out.print(f"\n{_advice(found)}\n", soft_wrap=True)
    if path:
        use = "the published ones are better" if found.loses else f"use them with --config {path}"
        say(f"settings: {path}; {use}")
    else:
        out.print(snippet(found), markup=False, soft_wrap=True, end="")


def _grid(weights: list[float] | None, taus: list[float] | None) -> "SettingGrid":
    from ..evaluation.arbitration.calibration import TAUS, SettingGrid  # noqa: PLC0415
    from ..evaluation.arbitration.sweeps import WEIGHTS  # noqa: PLC0415

    grid = SettingGrid(weights or WEIGHTS, taus or TAUS)
    if not all(map(math.isfinite, (*grid.weights, *grid.taus))) or min(grid.weights) < 0:
        raise InputError("--lambda and --tau must be finite numbers, and --lambda no less than 0")
    return grid


def snippet(found: "Calibration") -> str:
    """The chosen setting as a settings file that says what it rests on."""
    gain = found.gain
    warning = f"# {_LOSES}\n" if found.loses else ""
    return (
        f"# TrustMargin's lambda and tau, chosen on {found.labelled} labelled questions by {found.measure}.\n"
        f"# Held out in {len(found.folds)} folds: {found.held_out:.3f}; as published: {found.published:.3f}; "
        f"gain {gain.value:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}].\n{warning}"
        f"[trustmargin]\nweight = {found.setting.weight!r}\ntau = {found.setting.tau!r}\n"
    )


def _tables(found: "Calibration") -> "list[Grid]":
    from ..evaluation.grids import Grid, ranged  # noqa: PLC0415

    measure, gain = found.measure, found.gain
    means = (
        ("Direct", f"{found.direct:.3f}"),
        ("RAG", f"{found.rag:.3f}"),
        ("TrustMargin as published", f"{found.published:.3f}"),
        ("TrustMargin calibrated, held out", f"{found.held_out:.3f}"),
        ("oracle", f"{found.oracle:.3f}"),
        ("gain of calibration", ranged(gain.value, gain.low, gain.high, sign="+")),
    )
    folds = tuple(
        (
            str(number),
            str(fold.questions),
            f"{fold.setting.weight:g}",
            f"{fold.setting.tau:g}",
            f"{fold.grade:.3f}",
            f"{fold.published:.3f}",
        )
        for number, fold in enumerate(found.folds, start=1)
    )
    title = f"{found.labelled} labelled questions, the choice matters on {found.deciding}; 95% interval"
    header = ("fold", "questions", "lambda", "tau", f"{measure} held out", "as published")
    return [Grid(title, ("answer", measure), means), Grid("Chosen on the other folds", header, folds)]


def _advice(found: "Calibration") -> str:
    setting, gain = found.setting, found.gain
    chosen = f"chosen on all: lambda {setting.weight:g}, tau {setting.tau:g}."
    if found.at_edge:
        chosen += " It lies at the edge of the grid: try a wider one with --lambda and --tau."
    if gain.low > 0:
        return f"{chosen} It is better than the published setting."
    if found.loses:
        return f"{chosen} {_LOSES}"
    return f"{chosen} Whether it is better than the published setting is open: the interval holds 0."


def _draw(found: "Calibration", path: Path) -> None:
    from ..evaluation.arbitration.calibration import PUBLISHED  # noqa: PLC0415
    from ..evaluation.arbitration.drawing import draw_grid  # noqa: PLC0415

    at = {(cell.weight, cell.tau): cell for cell in found.cells}
    marks = {"chosen": ("*", at[found.setting.weight, found.setting.tau])}
    published = at.get((PUBLISHED.weight, PUBLISHED.tau))
    draw_grid(
        found.cells, marks | ({"published": ("s", published)} if published else {}), found.measure, path
    )
