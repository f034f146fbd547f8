"""Selective answering: risk against coverage, by the order of the scores (El-Yaniv and Wiener, 2010).

Coverage is the share of questions that are answered, risk the mean loss of their answers. A configuration
covers less by answering only its questions of the highest score. Questions of equal score, and those without
one, which stand last, cannot be told apart: risk is then what a random choice among them gives on average.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....policies.resampling import Numbers
from .grading import grade
from .rows import PredictionRow


@dataclass(frozen=True, slots=True)
class Point:
    """Coverage and the risk there, both in [0, 1]."""

    coverage: float
    risk: float


Rank = Callable[[PredictionRow], float]
"""What a row's answer is ranked by, higher first."""


def by_score(row: PredictionRow) -> float:
    """The sufficiency score."""
    return -math.inf if row.score is None else row.score


def by_own_rule(row: PredictionRow) -> float:
    """The sufficiency score, where the configuration heeds it: none decides against an infinite threshold."""
    return -math.inf if row.threshold is not None and math.isinf(row.threshold) else by_score(row)


@dataclass(frozen=True, slots=True)
class Selection:
    """The answered questions of a configuration in tiers of equal score, the highest first.

    `order` holds their places among all `questions`, `starts` where in `order` each tier begins; `losses` in
    [0, 1] are in that order too.
    """

    questions: int
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    losses: Numbers

    def coverage(self, times: Numbers) -> Numbers:
        """The share of questions answered, when each counts `times`, (draws, questions); shape (draws,)."""
        covered: Numbers = times[:, self.order].sum(axis=1) / times.sum(axis=1)
        return covered

    def risk(self, times: Numbers, coverage: Numbers) -> Numbers:
        """The risk at `coverage`, (draws,), no more than is covered; shape (draws,), NaN at coverage 0."""
        wanted = coverage * times.sum(axis=1)
        if not len(self.order):
            return np.full_like(wanted, np.nan)
        answered = times[:, self.order]
        sizes = np.add.reduceat(answered, self.starts, axis=1)
        lost = np.add.reduceat(answered * self.losses, self.starts, axis=1)
        taken = np.clip(wanted[:, None] - (np.cumsum(sizes, axis=1) - sizes), 0.0, sizes)
        rates = np.divide(lost, sizes, out=np.zeros_like(lost), where=sizes > 0)
        total: Numbers = (taken * rates).sum(axis=1)
        risk: Numbers = np.divide(total, wanted, out=np.full_like(total, np.nan), where=wanted > 0)
        return risk


def selection(rows: Sequence[PredictionRow], rank: Rank = by_score) -> Selection:
    """The selection of gradable rows; the loss of an answer is 1 - F1."""
    answered = [(place, row) for place, row in enumerate(rows) if row.action == "answer"]
    answered.sort(key=lambda entry: -rank(entry[1]))
    ranks = [rank(row) for _, row in answered]
    starts = [place for place in range(len(ranks)) if place == 0 or ranks[place] != ranks[place - 1]]
    return Selection(
        questions=len(rows),
        order=np.array([place for place, _ in answered], dtype=np.int64),
        starts=np.array(starts, dtype=np.int64),
        losses=np.array([1 - grade(row).f1 for _, row in answered]),
    )


def curve(chosen: Selection) -> tuple[Point, ...]:
    """The risk-coverage curve: a point a tier, by rising coverage; () where nothing was answered."""
    ends = [*chosen.starts[1:], len(chosen.order)]
    lost = np.cumsum(chosen.losses)
    return tuple(Point(float(end / chosen.questions), float(lost[end - 1] / end)) for end in ends if end)


def area(chosen: Selection) -> float | None:
    """The area under the curve over its coverage, in [0, 1]: the mean of the risks of the k highest scores,
    k from 1 to all that was answered. None where nothing was.
    """
    if not len(chosen.order):
        return None
    sizes = np.diff(np.append(chosen.starts, len(chosen.order)))
    rates = np.add.reduceat(chosen.losses, chosen.starts) / sizes
    lost = np.cumsum(np.repeat(rates, sizes))
    return float(np.mean(lost / np.arange(1, len(lost) + 1)))
