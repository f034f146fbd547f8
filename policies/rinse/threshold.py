"""The answer threshold by conformal risk control. (Design: from score to action)"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...tools.errors import InputError
from .provenance import AnswerThreshold


@dataclass(frozen=True, slots=True)
class ScoredRecord:
    """A held-out record's group, label and score s(q, E)."""

    group: str
    sufficient: bool
    score: float


def check_held_out(groups: int, alpha: float) -> None:
    """Raise InputError where so few held-out groups cannot keep the risk at `alpha`, whatever they score."""
    if 1 / (groups + 1) > alpha:
        needed = math.ceil(1 / alpha) - 1
        raise InputError(
            f"a threshold at alpha = {alpha:g} takes {needed} held-out groups or more, not {groups}; "
            "give more groups that all readers read, or allow a larger risk"
        )


def answer_threshold(records: Sequence[ScoredRecord], alpha: float) -> AnswerThreshold:
    """The smallest threshold t with (n · R(t) + 1) / (n + 1) <= alpha.

    R(t) is the mean over the n groups of the share of a group's insufficient records that score >= t: groups,
    not records, are exchangeable. For the next exchangeable group the expected rate of answering on
    insufficient evidence is then at most `alpha`. Raises InputError where n is too small for `alpha`.
    """
    insufficient = _by_group(records, sufficient=False)
    count = len(insufficient)
    check_held_out(count, alpha)
    # R falls only where t passes a score: the smallest t lies just above one of them, or below them all.
    scores = np.sort(np.concatenate([*insufficient.values()]))
    steps = [float(scores[0]), *(float(np.nextafter(score, np.inf)) for score in scores)]
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        fits = (count * _rate(insufficient, steps[middle]) + 1) / (count + 1) <= alpha
        low, high = (low, middle) if fits else (middle + 1, high)
    return AnswerThreshold(
        value=steps[low],
        alpha=alpha,
        groups=count,
        insufficient_rate=_rate(insufficient, steps[low]),
        sufficient_rate=_rate(_by_group(records, sufficient=True), steps[low]),
    )


def _by_group(records: Sequence[ScoredRecord], *, sufficient: bool) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = {}
    for record in records:
        if record.sufficient == sufficient:
            groups.setdefault(record.group, []).append(record.score)
    return groups


def _rate(groups: dict[str, list[float]], threshold: float) -> float:
    """Mean over groups of the share answered; 0 where there is no group."""
    shares = [float(np.mean(np.array(scores) >= threshold)) for scores in groups.values()]
    return float(np.mean(shares)) if shares else 0.0
