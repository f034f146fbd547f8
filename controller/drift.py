"""Drift monitors: how gains and pass rates run over the last questions (IGP, section 5.2).

A change of retriever, corpus, prompt or generator shifts them before it shows in answers.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..policies.gates import lone_gains, pass_rate
from ..policies.types import PruneReport
from .trace import Event, Pruned

QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and quantiles 0.1, 0.5 and 0.9 of some numbers."""

    mean: float
    low: float
    median: float
    high: float


@dataclass(frozen=True, slots=True)
class DriftReport:
    """The window as it stands.

    `gain` is over candidates measured alone, `pass_rate` over questions with any, `baseline`, NU(q), over
    all; None where there was nothing. `empty`, `gated` and `guarded` are shares of questions: with nothing
    admitted, with a gate's fallback, with a passage that only the guard kept.
    """

    questions: int
    gain: Spread | None
    pass_rate: Spread | None
    baseline: Spread | None
    empty: float
    gated: float
    guarded: float


class Drift:
    """Watches the last `window` prune reports; as a listener it takes them from a run's events."""

    def __init__(self, window: int) -> None:
        self._reports: deque[PruneReport] = deque(maxlen=window)

    def __call__(self, event: Event) -> None:
        """Take note of an event, if it is of pruning."""
        if isinstance(event, Pruned):
            self._reports.append(event.report)

    def report(self) -> DriftReport:
        """What the window shows."""
        reports = self._reports
        rates = [rate for rate in map(pass_rate, reports) if rate is not None]
        return DriftReport(
            questions=len(reports),
            gain=_spread([gain for report in reports for gain in lone_gains(report)]),
            pass_rate=_spread(rates),
            baseline=_spread([r.baseline for r in reports]),
            empty=_share([not r.admitted for r in reports]),
            gated=_share([bool(r.control) for r in reports]),
            guarded=_share([r.guard is not None and bool(r.guard.kept) for r in reports]),
        )


def _spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    low, median, high = np.quantile(values, QUANTILES)
    return Spread(float(np.mean(values)), float(low), float(median), float(high))


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def metrics(report: DriftReport) -> str:
    """The window in the text format that Prometheus reads; what is not known is left out."""
    lines = ["# TYPE sufficit_igp_questions gauge", f"sufficit_igp_questions {report.questions}"]
    for name in ("gain", "pass_rate", "baseline"):
        spread: Spread | None = getattr(report, name)
        if spread is not None:
            lines += [
                f"# TYPE sufficit_igp_{name} gauge",
                f'sufficit_igp_{name}{{stat="mean"}} {spread.mean:.6g}',
                *(
                    f'sufficit_igp_{name}{{stat="p{100 * level:.0f}"}} {value:.6g}'
                    for level, value in zip(QUANTILES, (spread.low, spread.median, spread.high), strict=True)
                ),
            ]
    for name in ("empty", "gated", "guarded"):
        share: float = getattr(report, name)
        lines += [f"# TYPE sufficit_igp_{name}_share gauge", f"sufficit_igp_{name}_share {share:.6g}"]
    return "\n".join(lines) + "\n"
