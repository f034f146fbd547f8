"""The report as tables, coverage first."""

from collections.abc import Sequence

from ....policies.resampling import Interval
from ..grids import Grid, failure_grids, ranged
from .diagnostics import Coverage, Diagnostics
from .report import Plugged, TrustMarginReport
from .sweeps import Cell, Level


def trustmargin_grids(report: TrustMarginReport) -> list[Grid]:
    """All tables; those of trials that were not run are left out."""
    found = report.diagnostics
    return [
        _coverage(report.coverage),
        *failure_grids(report.coverage.failed),
        _methods(found),
        _gaps(found),
        _sides(found),
        _cells(report.cells, found),
        *([_levels(report.levels)] if report.levels else []),
        *([_pipelines(report.pipelines)] if len(report.pipelines) > 1 else []),
        *(_costs(report)),
    ]


def _coverage(found: Coverage) -> Grid:
    failed = sum(found.failed.values())
    rows = (
        ("run", str(found.questions - failed)),
        ("failed, counted as wrong", str(failed)),
        ("decided by the margins", str(found.scored)),
        ("of them within the tie band", str(found.tied)),
        ("one answer from both sources", str(found.agreed)),
        ("an empty answer on either side", str(found.others)),
    )
    return Grid(
        f"Coverage: {found.questions - failed} of {found.questions} questions", ("", "questions"), rows
    )


def _methods(found: Diagnostics) -> Grid:
    rows = tuple(
        (
            method.name,
            _ranged(method.f1),
            _ranged(method.em),
            "" if method.name == "TrustMargin" else _ranged(method.f1_difference, "+"),
            "" if method.name == "TrustMargin" else _ranged(method.em_difference, "+"),
        )
        for method in found.methods
    )
    title = f"Answers at lambda {found.weight:g}, tau {found.tau:g}; 95% intervals over questions"
    header = ("method", "F1", "EM", "F1 less TrustMargin's", "EM less TrustMargin's")
    return Grid(title, header, rows)


def _gaps(found: Diagnostics) -> Grid:
    rows = tuple((gap.measure, gap.stronger, f"{gap.gap:.3f}", _ranged(gap.closed)) for gap in found.gaps)
    header = ("measure", "stronger source", "oracle gap", "share closed")
    return Grid("Oracle gap: the oracle's mean less the stronger source's", header, rows)


def _sides(found: Diagnostics) -> Grid:
    rows = tuple(
        (f"{side.better} is better", str(side.questions), _ranged(side.selected), _ranged(side.recovered))
        for side in found.sides
    )
    title = "Strict disagreements in F1: how often the better source is chosen, and the share of F1 recovered"
    return Grid(title, ("", "questions", "chosen", "recovered"), rows)


def _cells(cells: Sequence[Cell], found: Diagnostics) -> Grid:
    taus = sorted({cell.tau for cell in cells})
    weights = sorted({cell.weight for cell in cells})
    best = best_cell(cells)
    values = {(cell.weight, cell.tau): f"{cell.f1:.3f}{'*' if cell is best else ''}" for cell in cells}
    rows = tuple((f"{tau:g}", *(values[weight, tau] for weight in weights)) for tau in taus)
    title = (
        f"F1 by tau (rows) and lambda; this run's are {found.tau:g} and {found.weight:g}; * the best, "
        "chosen on these questions"
    )
    return Grid(title, ("tau", *(f"{weight:g}" for weight in weights)), rows)


def best_cell(cells: Sequence[Cell]) -> Cell:
    """The cell of the best F1; of equal ones the first."""
    return max(cells, key=lambda cell: cell.f1)


def _levels(levels: Sequence[Level]) -> Grid:
    rows = tuple(
        (
            f"{level.share:.0%}",
            str(level.failed),
            _ranged(level.selected),
            _ranged(level.selected_of_all),
            f"{level.direct:.3f}",
            _ranged(level.rag),
            _ranged(level.trustmargin),
        )
        for level in levels
    )
    header = ("random", "failed", "RAG chosen", "of all questions", "Direct F1", "RAG F1", "TrustMargin F1")
    return Grid(
        "Random passages in the pool, and how often RAG is chosen where the answers differ", header, rows
    )


def _pipelines(found: Sequence[Plugged]) -> Grid:
    rows = tuple(
        (
            one.pipeline,
            str(sum(one.coverage.failed.values())),
            _ranged(one.f1),
            _ranged(one.em),
            _ranged(one.f1_gain, "+"),
            _ranged(one.em_gain, "+"),
        )
        for one in found
    )
    header = ("pipeline", "failed", "F1 alone", "EM alone", "F1 with TrustMargin", "EM with TrustMargin")
    return Grid("What TrustMargin adds to a pipeline, as differences", header, rows)


def _costs(report: TrustMarginReport) -> list[Grid]:
    return [
        Grid(
            f"Seconds a question, pipeline {pipeline}",
            ("method", "mean", "median"),
            tuple((cost.name, f"{cost.mean:.3f}", f"{cost.median:.3f}") for cost in found),
        )
        for pipeline, found in report.costs.items()
        if found
    ]


def _ranged(found: Interval | None, sign: str = "") -> str:
    return "" if found is None else ranged(found.value, found.low, found.high, sign)
