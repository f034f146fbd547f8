"""Pairwise accuracy with its group-bootstrap interval (RINSE section 3.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tools.errors import InputError, ModelOutputError
from .records import Pair

DRAWS = 2000
_BLOCK = 100  # draws at a time: bounds memory at 100 x groups


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


def bootstrap(wins: NDArray[np.float64], counts: NDArray[np.float64], seed: int = 0) -> NDArray[np.float64]:
    """Σ wins / Σ counts over 2,000 draws of whole groups, with replacement; shape (draws,).

    One seed draws the same groups for all scorers that were measured on the same groups.
    """
    random = np.random.default_rng(seed)
    groups = len(counts)
    drawn = []
    for _ in range(DRAWS // _BLOCK):
        times = random.multinomial(groups, np.full(groups, 1 / groups), size=_BLOCK)
        drawn.append((times @ wins) / (times @ counts))
    return np.concatenate(drawn)


def interval(draws: NDArray[np.float64]) -> tuple[float, float]:
    """The 2.5th and the 97.5th percentile."""
    low, high = np.quantile(draws, (0.025, 0.975))
    return float(low), float(high)
