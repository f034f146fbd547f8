"""The bootstrap: what a figure would have been on other draws of the same groups, or questions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

DRAWS = 2000
_BLOCK = 100  # draws at a time: bounds memory at 100 x groups


def resample(figure: Callable[[Numbers], Numbers], groups: int, seed: int = 0) -> Numbers:
    """A figure over 2,000 draws of `groups` groups, with replacement; shape (draws,).

    `figure` gets how often every group was drawn, shape (block, groups), and gives shape (block,). One seed
    draws the same groups for all figures over as many groups: differences of two are paired.
    """
    random = np.random.default_rng(seed)
    even = np.full(groups, 1 / groups)
    blocks = range(DRAWS // _BLOCK)
    return np.concatenate(
        [figure(random.multinomial(groups, even, size=_BLOCK).astype(np.float64)) for _ in blocks]
    )


def bootstrap(wins: Numbers, counts: Numbers, seed: int = 0) -> Numbers:
    """Σ wins / Σ counts over 2,000 draws of whole groups, with replacement; shape (draws,)."""
    return resample(lambda times: (times @ wins) / (times @ counts), len(counts), seed)


def interval(draws: Numbers) -> tuple[float, float]:
    """The 2.5th and the 97.5th percentile."""
    low, high = np.quantile(draws, (0.025, 0.975))
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95% interval."""

    value: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether a difference with this interval is real."""
        return self.low > 0 or self.high < 0


def mean_interval(values: Numbers, seed: int = 0) -> Interval:
    """The mean of at least one value, drawn over values."""
    return Interval(float(values.mean()), *interval(bootstrap(values, np.ones_like(values), seed)))
