"""What arbitration gains, and what it leaves: TrustMargin Tables 1, 2, 3 and 4, Figure 5.

The stronger single source is Direct or RAG, whichever has the higher mean. Oracle gap: the oracle's mean less
the stronger source's. Gap closed: TrustMargin's gain over the stronger source as a share of that gap. Strict
disagreements are questions on which the two answers differ in F1. Recovery: of the F1 to be gained there by
choosing the better answer over the worse one, the share that TrustMargin gains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ....policies.resampling import Interval, Numbers, bootstrap, interval, mean_interval, resample
from .outcomes import MEASURES, Choice, Outcomes
from .rows import ArbitrationRow


@dataclass(frozen=True, slots=True)
class Method:
    """Mean F1 and EM of one method, and its differences from TrustMargin on the same questions."""

    name: str
    f1: Interval
    em: Interval
    f1_difference: Interval
    em_difference: Interval


@dataclass(frozen=True, slots=True)
class Gap:
    """By one measure: the stronger single source, the oracle gap, and its share closed, None without a gap.

    The interval is over draws of questions, the stronger source chosen anew in each; draws without a gap are
    left out.
    """

    measure: str
    stronger: str
    gap: float
    closed: Interval | None


@dataclass(frozen=True, slots=True)
class Side:
    """The strict disagreements on which one source is better: how many, how often it was chosen, recovery.

    Both are None where there are none.
    """

    better: str
    questions: int
    selected: Interval | None
    recovered: Interval | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many questions were asked; how many failed, by reason; and how the others were decided.

    `scored` ones by margins, `agreed` ones had one answer; the `others` had an empty one. `tied` are within
    the tie band.
    """

    questions: int
    failed: Mapping[str, int]
    scored: int
    agreed: int
    others: int
    tied: int


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """One trial over all questions at one lambda (`weight`) and `tau`."""

    weight: float
    tau: float
    methods: tuple[Method, ...]
    gaps: tuple[Gap, ...]
    sides: tuple[Side, ...]


def coverage(rows: Sequence[ArbitrationRow]) -> Coverage:
    """What became of every row."""
    failed: dict[str, int] = {}
    for row in rows:
        if row.error:
            failed[row.error] = failed.get(row.error, 0) + 1
    verdicts = [row.verdict for row in rows if row.verdict is not None]
    scored = sum(verdict.likelihoods is not None for verdict in verdicts)
    agreed = sum(verdict.source == "agree" for verdict in verdicts)
    return Coverage(
        questions=len(rows),
        failed=failed,
        scored=scored,
        agreed=agreed,
        others=len(verdicts) - scored - agreed,
        tied=sum(verdict.tie for verdict in verdicts),
    )


def diagnose(outcomes: Outcomes, weight: float, tau: float) -> Diagnostics:
    """All of it for one trial."""
    chosen = outcomes.chosen(weight, tau)
    grades = {
        "Direct": outcomes.direct,
        "RAG": outcomes.rag,
        "TrustMargin": chosen,
        "prior margin only": outcomes.chosen(0.0, tau),
        "binding margin only": outcomes.chosen(weight, tau, prior=False),
        "oracle": outcomes.oracle,
    }
    return Diagnostics(
        weight,
        tau,
        methods=tuple(_method(name, found, chosen) for name, found in grades.items()),
        gaps=tuple(_gap(outcomes, chosen, column) for column in range(len(MEASURES))),
        sides=_sides(outcomes, outcomes.takes_rag(weight, tau), chosen),
    )


def _method(name: str, grades: Numbers, chosen: Numbers) -> Method:
    means = [mean_interval(grades[:, column]) for column in (0, 1)]
    differences = [mean_interval(grades[:, column] - chosen[:, column]) for column in (0, 1)]
    return Method(name, *means, *differences)


def _gap(outcomes: Outcomes, chosen: Numbers, column: int) -> Gap:
    direct, rag, oracle, ours = (
        found[:, column] for found in (outcomes.direct, outcomes.rag, outcomes.oracle, chosen)
    )

    def closed(times: Numbers) -> Numbers:
        best = np.maximum(times @ direct, times @ rag)
        gap = times @ oracle - best
        with np.errstate(divide="ignore", invalid="ignore"):
            share: Numbers = (times @ ours - best) / gap
        # Sums of the same numbers in another order may differ by rounding: no gap.
        return np.where(gap > 1e-9, share, np.nan)

    value = float(closed(np.ones((1, len(ours))))[0])
    draws = resample(closed, len(ours))
    draws = draws[~np.isnan(draws)]
    stronger = "Direct" if direct.mean() >= rag.mean() else "RAG"
    gap = float(oracle.mean() - max(direct.mean(), rag.mean()))
    known = not np.isnan(value) and len(draws) > 0
    return Gap(MEASURES[column], stronger, gap, Interval(value, *interval(draws)) if known else None)


def _sides(outcomes: Outcomes, takes_rag: Choice, chosen: Numbers) -> tuple[Side, ...]:
    direct, rag, ours = outcomes.direct[:, 0], outcomes.rag[:, 0], chosen[:, 0]
    return (
        _side("Direct", direct - rag, ours - rag, ~takes_rag),
        _side("RAG", rag - direct, ours - direct, takes_rag),
    )


def _side(better: str, available: Numbers, gained: Numbers, selected: Choice) -> Side:
    here = available > 0
    if not here.any():
        return Side(better, 0, None, None)
    available, gained = available[here], gained[here]
    recovered = Interval(float(gained.sum() / available.sum()), *interval(bootstrap(gained, available)))
    return Side(better, int(here.sum()), mean_interval(selected[here].astype(np.float64)), recovered)
