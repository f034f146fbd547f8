"""Pairwise accuracy with its group-bootstrap interval (RINSE section 3.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tools.errors import InputError, ModelOutputError
from ..resampling import bootstrap, interval
from .records import Pair


@dataclass(frozen=True, slots=True)
class Accuracy:
    """`value` in [0, 1], 0.5 is chance; `low` and `high` bound its 95% interval."""

    value: float
    low: float
    high: float
    pairs: int
    groups: int


def group_wins(
    pairs: Iterable[Pair], scores: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For every group, its pairs won (a tie is one half) and its pairs; two arrays of shape (groups,).

    Raises InputError where there is no pair, ModelOutputError where a score is not finite.
    """
    wins: dict[str, float] = {}
    counts: dict[str, int] = {}
    for group, sufficient, insufficient in pairs:
        high, low = scores[sufficient], scores[insufficient]
        if not np.isfinite(high) or not np.isfinite(low):
            raise ModelOutputError(f"a record of group {group!r} has a score that is not finite")
        wins[group] = wins.get(group, 0.0) + (1.0 if high > low else 0.5 if high == low else 0.0)
        counts[group] = counts.get(group, 0) + 1
    if not counts:
        raise InputError("no group has both a sufficient and an insufficient record: nothing to compare")
    return np.array(list(wins.values())), np.array(list(counts.values()), dtype=np.float64)


def pairwise_accuracy(pairs: Iterable[Pair], scores: Sequence[float], *, seed: int = 0) -> Accuracy:
    """The share of pairs in which the sufficient side scores higher, equal scores counting half.

    Every pair weighs the same, so a group weighs as many pairs as it has. The interval is the 2.5th and
    97.5th percentile over 2,000 draws of whole groups, with replacement. Raises as `group_wins`.
    """
    wins, counts = group_wins(pairs, scores)
    low, high = interval(bootstrap(wins, counts, seed))
    value = float(wins.sum() / counts.sum())
    return Accuracy(value, low, high, int(counts.sum()), len(counts))
