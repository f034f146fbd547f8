"""Fetches saved against wrong hits: every method's curve, and what it saves at 5% of hits wrong or fewer.

Intervals are of a bootstrap over the stream's groups: whole groups are drawn, for a group's events share
their passages. All methods see the same draws, so differences are paired.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ....policies.resampling import Interval, interval, resample
from ....tools.errors import InputError
from ..grids import Grid, ranged
from ..stable import stable_id
from .asking import SWEPT
from .run import CachingRow
from .stream import Event

Numbers = NDArray[np.float64]

MOST_WRONG: Final = 0.05
"""Share of hits that may be wrong."""


@dataclass(frozen=True, slots=True)
class Point:
    """One method at one threshold: shares in [0, 1] as `asking` defines them. `threshold` None: as it is."""

    threshold: float | None
    saved: Interval
    wrong: Interval


@dataclass(frozen=True, slots=True)
class Line:
    """One method.

    `best` is the point that saves most with at most `MOST_WRONG` of its hits wrong on this very stream; None
    if there is none that serves anything. `held_out_saved` and `held_out_wrong` are what comes of choosing
    the threshold in that way on one half of the groups and counting on the other, and the other way round.
    `difference` is the best point's saving less that of the decision's best point; None for this one.
    """

    method: str
    points: tuple[Point, ...]
    best: Point | None
    held_out_saved: float
    held_out_wrong: float
    difference: Interval | None
    kinds: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class CachingReport:
    """All methods. `kinds` counts events by kind; that of a line its hits and wrong ones at its best."""

    events: int
    groups: int
    kinds: Mapping[str, int]
    lines: tuple[Line, ...]


class _Counts:
    """Hits and wrong hits of one method: arrays of shape (groups, points); events, of shape (groups,)."""

    def __init__(self, rows: Sequence[CachingRow], groups: NDArray[np.intp], count: int) -> None:
        outcomes = np.array([row.outcomes for row in rows]).T  # (events, points)
        self.groups = count
        self.events = np.bincount(groups, minlength=count).astype(np.float64)
        self.hits = _by_group(outcomes != "fetch", groups, count)
        self.wrong = _by_group(outcomes == "wrong", groups, count)

    def saved(self, times: Numbers) -> Numbers:
        """Fetches saved of every point, over groups taken so many times; shape (..., points)."""
        shares: Numbers = (times @ self.hits) / (times @ self.events)[..., None]
        return shares

    def wrong_rate(self, times: Numbers) -> Numbers:
        """Wrong-hit rate of every point; 0 where nothing was served."""
        hits, wrong = times @ self.hits, times @ self.wrong
        rates: Numbers = np.divide(wrong, hits, out=np.zeros_like(wrong), where=hits > 0)
        return rates

    def best(self, times: Numbers) -> int | None:
        """The point that saves most with few enough wrong hits; None where none of these serves anything."""
        saved = np.where(self.wrong_rate(times) <= MOST_WRONG, self.saved(times), 0.0)
        place = int(np.argmax(saved))
        return place if saved[place] > 0 else None


def _by_group(flags: NDArray[np.bool_], groups: NDArray[np.intp], count: int) -> Numbers:
    sums = np.zeros((count, flags.shape[1]))
    np.add.at(sums, groups, flags)
    return sums


def caching_report(events: Sequence[Event], rows: Sequence[CachingRow]) -> CachingReport:
    """Sum up a run. Raises InputError where the rows are not of these events, or lack the decision's."""
    if not rows or any(len(row.outcomes) != len(events) for row in rows):
        raise InputError("the rows are not of this stream; choose another --out")
    names = sorted({event.drawn_with for event in events})
    places = {name: place for place, name in enumerate(names)}
    groups = np.array([places[event.drawn_with] for event in events])
    by_method: dict[str, list[CachingRow]] = {}
    for row in rows:
        by_method.setdefault(row.method, []).append(row)
    counts = {method: _Counts(found, groups, len(names)) for method, found in by_method.items()}
    if SWEPT not in counts:
        raise InputError(f"the rows lack the method {SWEPT!r}: the run is not complete; go on with it")
    halves = np.array([int(stable_id(name), 16) % 2 for name in names], dtype=np.float64)
    lines = tuple(
        _line(found, counts[method], counts[SWEPT], halves, events) for method, found in by_method.items()
    )
    return CachingReport(len(events), len(names), _kinds(events), lines)


def _line(
    rows: Sequence[CachingRow], counts: _Counts, node: _Counts, halves: Numbers, events: Sequence[Event]
) -> Line:
    everything = np.ones(counts.groups)
    saved = resample(counts.saved, counts.groups)
    wrong = resample(counts.wrong_rate, counts.groups)
    points = tuple(
        Point(
            row.threshold,
            Interval(float(counts.saved(everything)[place]), *interval(saved[:, place])),
            Interval(float(counts.wrong_rate(everything)[place]), *interval(wrong[:, place])),
        )
        for place, row in enumerate(rows)
    )
    best = counts.best(everything)
    held_out = _held_out(counts, halves)
    return Line(
        method=rows[0].method,
        points=points,
        best=None if best is None else points[best],
        held_out_saved=held_out[0],
        held_out_wrong=held_out[1],
        difference=None if counts is node else _difference(counts, node),
        kinds={} if best is None else _by_kind(rows[best], events),
    )


def _held_out(counts: _Counts, halves: Numbers) -> tuple[float, float]:
    hits = wrong = 0.0
    for chosen_on, counted_on in ((halves, 1 - halves), (1 - halves, halves)):
        best = counts.best(chosen_on) if chosen_on @ counts.events else None
        if best is not None:
            hits += float(counted_on @ counts.hits[:, best])
            wrong += float(counted_on @ counts.wrong[:, best])
    return hits / float(counts.events.sum()), wrong / hits if hits else 0.0


def _difference(counts: _Counts, node: _Counts) -> Interval:
    """Fetches saved at the best point less the node's, both points chosen on the whole stream."""
    everything = np.ones(counts.groups)
    ours, theirs = node.best(everything), counts.best(everything)

    def figure(times: Numbers) -> Numbers:
        zero = np.zeros(times.shape[:-1])
        left = zero if theirs is None else counts.saved(times)[..., theirs]
        return left - (zero if ours is None else node.saved(times)[..., ours])

    return Interval(float(figure(everything)), *interval(resample(figure, counts.groups)))


def _by_kind(row: CachingRow, events: Sequence[Event]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for event, outcome in zip(events, row.outcomes, strict=True):
        hits, wrong = found.get(event.kind, (0, 0))
        found[event.kind] = hits + (outcome != "fetch"), wrong + (outcome == "wrong")
    return found


def _kinds(events: Sequence[Event]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for event in events:
        counts[event.kind] = counts.get(event.kind, 0) + 1
    return counts


def caching_grids(report: CachingReport) -> list[Grid]:
    """What every method saves at few wrong hits, and on which kinds of events."""
    rows = tuple(_cells(line) for line in report.lines)
    title = (
        f"Fetches saved with at most {MOST_WRONG:.0%} of hits wrong; {report.events} events in "
        f"{report.groups} groups, 95% group-bootstrap intervals; held out: threshold chosen on other groups"
    )
    header = ("method", "threshold", "saved", "wrong hits", "held out", "its wrong hits", "less sufficit")
    return [Grid(title, header, rows), _kind_grid(report)]


def _cells(line: Line) -> tuple[str, ...]:
    held_out = (f"{line.held_out_saved:.3f}", f"{line.held_out_wrong:.3f}")
    gain = line.difference
    difference = "" if gain is None else ranged(gain.value, gain.low, gain.high, sign="+")
    if line.best is None:
        return (line.method, "none", "0.000", "", *held_out, difference)
    level, saved, wrong = line.best.threshold, line.best.saved, line.best.wrong
    return (
        line.method,
        "" if level is None else f"{level:.3f}",
        ranged(saved.value, saved.low, saved.high),
        ranged(wrong.value, wrong.low, wrong.high),
        *held_out,
        difference,
    )


def _kind_grid(report: CachingReport) -> Grid:
    kinds = list(report.kinds)
    header = ("method", *(f"{kind or 'events'} ({report.kinds[kind]})" for kind in kinds))
    rows = tuple(
        (line.method, *(_hits(line.kinds.get(kind, (0, 0))) for kind in kinds)) for line in report.lines
    )
    return Grid("Hits at that point, wrong ones in parentheses, by kind of event", header, rows)


def _hits(counts: tuple[int, int]) -> str:
    hits, wrong = counts
    return f"{hits} ({wrong})" if wrong else str(hits)
