"""Scorers side by side: pairwise accuracy by set, average and minimum, paired differences, speed.

(RINSE section 3.2, Table 4.) Intervals are of a bootstrap over whole groups; every comparison of two scorers
is over the same draws of the groups that both have scored.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....policies.resampling import bootstrap, interval
from ....policies.rinse.accuracy import Accuracy, group_wins, pairwise_accuracy
from ....policies.rinse.records import pairs
from ....tools.errors import InputError
from .scores import ScoreRow, ScoreTable, scored_rows

Draws = NDArray[np.float64]
Set = tuple[str, str]
"""Family and construction."""


@dataclass(frozen=True, slots=True)
class SetAccuracy:
    """One scorer on one family and construction.

    `skipped` records have no score, `unpaired` ones no counterpart with a score. `seen` marks a family that
    the scorer was fitted on: such a figure says nothing of new data.
    """

    scorer: str
    family: str
    construction: str
    accuracy: Accuracy
    skipped: int
    unpaired: int
    seen: bool


@dataclass(frozen=True, slots=True)
class Overall:
    """One scorer over families: a family's accuracy is the mean over its constructions.

    `low` and `high` bound the average's 95% interval.
    """

    scorer: str
    families: int
    average: float
    low: float
    high: float
    minimum: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Accuracy of `scorer` less that of `reference`, on the records that both have scored.

    `family` and `construction` are None for the average over families.
    """

    scorer: str
    reference: str
    family: str | None
    construction: str | None
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Speed:
    """Latency of one record in milliseconds, with `at_once` records in flight, and records per second.

    Both sides of a pair share passages, so whatever a model remembers of one is ready for the other.
    """

    scorer: str
    records: int
    p50: float
    p95: float
    per_second: float
    at_once: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that `contrasts report` says. `skipped` counts records without a score by scorer and reason,
    `noted` likewise those whose score has a note.
    """

    sets: tuple[SetAccuracy, ...]
    overall: tuple[Overall, ...]
    differences: tuple[Difference, ...]
    speed: tuple[Speed, ...]
    skipped: Mapping[str, Mapping[str, int]]
    noted: Mapping[str, Mapping[str, int]]


def compare(tables: Sequence[ScoreTable], reference: str | None = None) -> Comparison:
    """Compare scorers; differences are with `reference`, the first table's label where not given.

    Raises InputError where there is no such label, or no scorer has scored a pair.
    """
    labels = [table.label for table in tables]
    reference = reference or labels[0]
    if reference not in labels:
        raise InputError(f"no scores are labelled {reference!r}; there are: {', '.join(labels)}")
    sets = [found for table in tables for found in set_accuracies(table)]
    if not sets:
        raise InputError("no group has scores on both sides: nothing to compare")
    base = tables[labels.index(reference)]
    return Comparison(
        sets=tuple(sets),
        overall=tuple(overall(table) for table in tables if any(s.scorer == table.label for s in sets)),
        differences=tuple(
            found for table in tables if table.label != reference for found in differences(table, base)
        ),
        speed=tuple(_speed(table) for table in tables if any(_scored(table))),
        skipped={table.label: _tally(row.skipped for row in table.rows.values()) for table in tables},
        noted={table.label: _tally(row.note for row in table.rows.values()) for table in tables},
    )


def sets_of(table: ScoreTable) -> list[Set]:
    """The families and constructions of a table in which a pair is scored."""
    found = sorted({(row.family, row.construction) for row in table.rows.values()})
    return [named for named in found if next(pairs(scored_rows(table, *named)), None)]


def set_accuracies(table: ScoreTable) -> list[SetAccuracy]:
    """Pairwise accuracy in every set."""
    return [_set_accuracy(table, *named) for named in sets_of(table)]


def _set_accuracy(table: ScoreTable, family: str, construction: str) -> SetAccuracy:
    members = [r for r in table.rows.values() if (r.family, r.construction) == (family, construction)]
    rows = scored_rows(table, family, construction)
    found = list(pairs(rows))
    paired = {place for pair in found for place in (pair.sufficient, pair.insufficient)}
    return SetAccuracy(
        scorer=table.label,
        family=family,
        construction=construction,
        accuracy=pairwise_accuracy(found, _values(rows)),
        skipped=len(members) - len(rows),
        unpaired=len(rows) - len(paired),
        seen=(family, construction) in table.seen,
    )


def overall(table: ScoreTable) -> Overall:
    """Average and minimum over families."""
    found = {named: _wins(scored_rows(table, *named)) for named in sets_of(table)}
    values = {named: float(wins.sum() / counts.sum()) for named, (wins, counts) in found.items()}
    draws = {named: bootstrap(wins, counts, _seed(named)) for named, (wins, counts) in found.items()}
    means = _family_means(values)
    low, high = interval(_average(draws))
    return Overall(
        table.label, len(means), float(np.mean(list(means.values()))), low, high, min(means.values())
    )


def differences(table: ScoreTable, base: ScoreTable) -> list[Difference]:
    """`table` less `base` on their common records: in every set, then on average over families."""
    known = {key for key, row in base.rows.items() if row.score is not None}
    values: dict[Set, float] = {}
    draws: dict[Set, Draws] = {}
    for named in sets_of(table):
        rows = [row for row in scored_rows(table, *named) if row.record in known]
        if next(pairs(rows), None) is None:
            continue
        wins, counts = _wins(rows)
        base_wins, _ = _wins([base.rows[row.record] for row in rows])
        values[named] = float((wins - base_wins).sum() / counts.sum())
        draws[named] = bootstrap(wins - base_wins, counts, _seed(named))
    found = [
        Difference(table.label, base.label, *named, value, *interval(draws[named]))
        for named, value in values.items()
    ]
    if values:
        mean = float(np.mean(list(_family_means(values).values())))
        found.append(Difference(table.label, base.label, None, None, mean, *interval(_average(draws))))
    return found


def _wins(rows: Sequence[ScoreRow]) -> tuple[Draws, Draws]:
    return group_wins(pairs(rows), _values(rows))


def _values(rows: Sequence[ScoreRow]) -> list[float]:
    return [row.score for row in rows if row.score is not None]


def _seed(named: Set) -> int:
    """Of each set its own, so that sets are drawn independently and all scorers alike."""
    return int.from_bytes("/".join(named).encode()) % 2**32


def _family_means(values: Mapping[Set, float]) -> dict[str, float]:
    families: dict[str, list[float]] = {}
    for (family, _), value in values.items():
        families.setdefault(family, []).append(value)
    return {family: float(np.mean(found)) for family, found in families.items()}


def _average(draws: Mapping[Set, Draws]) -> Draws:
    families: dict[str, list[Draws]] = {}
    for (family, _), found in draws.items():
        families.setdefault(family, []).append(found)
    average: Draws = np.mean([np.mean(found, axis=0) for found in families.values()], axis=0)
    return average


def _scored(table: ScoreTable) -> list[ScoreRow]:
    return [row for row in table.rows.values() if row.score is not None]


def _speed(table: ScoreTable) -> Speed:
    rows = _scored(table)
    p50, p95 = np.quantile([row.seconds * 1000 for row in rows], (0.5, 0.95))
    rate = len(rows) / max(1e-9, sum(row.share for row in rows))
    return Speed(table.label, len(rows), float(p50), float(p95), rate, table.at_once)


def _tally(reasons: Iterable[str]) -> dict[str, int]:
    """How often each reason is given, the most frequent first."""
    return dict(Counter(reason for reason in reasons if reason).most_common())
