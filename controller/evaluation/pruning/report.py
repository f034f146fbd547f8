"""The tables of IGP: F1, tokens and their ratio by method and M, relevance against utility, and scans."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....policies.resampling import Interval, mean_interval
from ....tools.errors import InputError
from ..grids import Grid, ranged
from .pruners import REFERENCE
from .run import Cell, PruningRow


@dataclass(frozen=True, slots=True)
class Line:
    """One method at one M over all questions.

    `tokens` is TK, the mean length of the final prompt; `nte` is (F1 / TK) over the reference's, None where
    that is not defined; `saved` the share of the reference's tokens that is not spent; `gain` the paired
    difference in F1 to the reference. `empty` is the share of questions with nothing admitted.
    """

    method: str
    top_m: int
    f1: float
    tokens: float
    nte: float | None
    saved: float
    gain: Interval
    admitted: float
    empty: float
    ndcg: float | None


@dataclass(frozen=True, slots=True)
class PruningReport:
    """All lines, at the same M; `across` has those of smaller M against the reference at the largest.

    `correlations` is Spearman's, of NDCG and F1 over methods, by M, where it is defined.
    """

    questions: int
    skipped: int
    lines: tuple[Line, ...]
    across: tuple[Line, ...]
    correlations: Mapping[int, float]


def pruning_report(rows: Sequence[PruningRow]) -> PruningReport:
    """Sum up a run. Raises InputError where no question could be run."""
    ran = [row for row in rows if not row.skipped]
    if not ran:
        why = rows[0].skipped if rows else "there is none"
        raise InputError(f"no question could be run; the first: {why}")
    columns: dict[tuple[str, int], list[Cell]] = {}
    for row in ran:
        for cell in row.cells:
            columns.setdefault((cell.method, cell.top_m), []).append(cell)
    lines = tuple(_line(cells, columns.get((REFERENCE, top_m))) for (_, top_m), cells in columns.items())
    largest = max(top_m for _, top_m in columns)
    widest = columns.get((REFERENCE, largest))
    across = tuple(
        _line(cells, widest) for (_, top_m), cells in columns.items() if widest and top_m < largest
    )
    return PruningReport(len(ran), len(rows) - len(ran), lines, across, _correlations(lines))


def _line(cells: Sequence[Cell], reference: Sequence[Cell] | None) -> Line:
    found = _mean(cell.f1 for cell in cells)
    tokens = _mean(cell.tokens for cell in cells)
    against = cells if reference is None else reference
    base_f1, base_tokens = _mean(cell.f1 for cell in against), _mean(cell.tokens for cell in against)
    grades = [cell.ndcg for cell in cells if cell.ndcg is not None]
    differences = np.array([cell.f1 - other.f1 for cell, other in zip(cells, against, strict=True)])
    return Line(
        method=cells[0].method,
        top_m=cells[0].top_m,
        f1=found,
        tokens=tokens,
        nte=(found / base_f1) / (tokens / base_tokens) if base_f1 and tokens else None,
        saved=1 - tokens / base_tokens,
        gain=mean_interval(differences),
        admitted=_mean(cell.admitted for cell in cells),
        empty=_mean(cell.admitted == 0 for cell in cells),
        ndcg=_mean(grades) if grades else None,
    )


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Spearman's rank correlation in [-1, 1], ties at their mean rank; None where either is constant."""
    if len(set(left)) < 2 or len(set(right)) < 2:
        return None
    return float(np.corrcoef(_ranks(left), _ranks(right))[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    array = np.array(values)
    return np.array([(array < v).sum() + ((array == v).sum() + 1) / 2 for v in array])


def _correlations(lines: Iterable[Line]) -> dict[int, float]:
    pairs: dict[int, list[tuple[float, float]]] = {}
    for line in lines:
        if line.ndcg is not None:
            pairs.setdefault(line.top_m, []).append((line.ndcg, line.f1))
    found = {top_m: spearman(*zip(*of, strict=True)) for top_m, of in pairs.items()}
    return {top_m: value for top_m, value in found.items() if value is not None}


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def pruning_grids(report: PruningReport) -> list[Grid]:
    """A table an M, smaller M against the reference at the largest, and relevance against utility."""
    largest = max(line.top_m for line in report.lines)
    grids = _by_m(report.lines, f"{report.questions} questions; differences to {REFERENCE}")
    grids += _by_m(report.across, f"differences to {REFERENCE} at TopM = {largest}")
    if report.correlations:
        rows = tuple((str(top_m), f"{value:+.2f}") for top_m, value in sorted(report.correlations.items()))
        grids.append(Grid("Spearman correlation of NDCG and F1 over methods", ("TopM", "rho"), rows))
    return grids


def _by_m(lines: Sequence[Line], what: str) -> list[Grid]:
    header = ("method", "F1", "TK", "NTE", "saved", "F1 difference", "passages", "empty", "NDCG")
    return [
        Grid(
            f"TopM = {top_m}, {what}, 95% intervals",
            header,
            tuple(_cells(line) for line in lines if line.top_m == top_m),
        )
        for top_m in sorted({line.top_m for line in lines})
    ]


def _cells(line: Line) -> tuple[str, ...]:
    gain = line.gain
    return (
        line.method,
        f"{line.f1:.3f}",
        f"{line.tokens:.0f}",
        "" if line.nte is None else f"{line.nte:.2f}",
        f"{line.saved:.0%}",
        ranged(gain.value, gain.low, gain.high, sign="+"),
        f"{line.admitted:.2f}",
        f"{line.empty:.0%}",
        "" if line.ndcg is None else f"{line.ndcg:.3f}",
    )
