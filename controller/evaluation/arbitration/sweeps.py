"""TrustMargin under other settings and worse evidence: Figures 4 and 6; its cost by part: Table 9."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ....policies.resampling import Interval, mean_interval
from .outcomes import Measure, Outcomes
from .rows import ArbitrationRow

WEIGHTS: Final = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
TAUS: Final = (-6.0, -5.0, -4.0, -3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0)
"""lambda and tau of the grid."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Mean F1 and EM at one lambda (`weight`) and `tau`, and the share of questions answered by RAG."""

    weight: float
    tau: float
    f1: float
    em: float
    rag: float

    def graded(self, measure: Measure) -> float:
        """The mean of one measure."""
        return self.f1 if measure == "F1" else self.em


def grid_cells(outcomes: Outcomes, weights: Sequence[float], taus: Sequence[float]) -> tuple[Cell, ...]:
    """Every lambda with every tau, computed from the recorded likelihoods (Figure 4)."""
    cells = []
    for weight in sorted(set(weights)):
        for tau in sorted(set(taus)):
            f1, em = outcomes.chosen(weight, tau).mean(axis=0)
            cells.append(
                Cell(weight, tau, float(f1), float(em), float(outcomes.takes_rag(weight, tau).mean()))
            )
    return tuple(cells)


@dataclass(frozen=True, slots=True)
class Level:
    """One level of corruption (Figure 6): `share` of the pool in [0, 1] is random passages.

    `selected` is how often RAG's answer was chosen where there were two to choose from, None where there
    never were, and `selected_of_all` over all questions. F1 of Direct, of RAG and of TrustMargin.
    """

    share: float
    questions: int
    failed: int
    selected: Interval | None
    selected_of_all: Interval
    direct: float
    rag: Interval
    trustmargin: Interval


def corruption_level(share: float, rows: Sequence[ArbitrationRow], weight: float, tau: float) -> Level:
    """The rows of one level summed up."""
    outcomes = Outcomes.of(rows)
    taken = outcomes.takes_rag(weight, tau).astype(np.float64)
    between = taken[outcomes.between]
    return Level(
        share=share,
        questions=len(rows),
        failed=sum(bool(row.error) for row in rows),
        selected=mean_interval(between) if len(between) else None,
        selected_of_all=mean_interval(taken),
        direct=float(outcomes.direct[:, 0].mean()),
        rag=mean_interval(outcomes.rag[:, 0]),
        trustmargin=mean_interval(outcomes.chosen(weight, tau)[:, 0]),
    )


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds a question of one method or part, mean and median over the questions that did not fail."""

    name: str
    mean: float
    median: float


_PARTS: Final = {
    "Direct": ("direct",),
    "RAG": ("retrieval", "rag"),
    "TrustMargin": ("direct", "retrieval", "rag", "scoring"),
    "of it, closed-book answer": ("direct",),
    "of it, retrieval": ("retrieval",),
    "of it, RAG answer": ("rag",),
    "of it, six likelihoods": ("scoring",),
}


def costs(rows: Sequence[ArbitrationRow]) -> tuple[Cost, ...]:
    """Seconds a question by method and by part (Table 9), () where all failed or ran together."""
    times = [row.seconds for row in rows if row.seconds and not row.error]
    if not times:
        return ()
    found = {
        name: [sum(time.get(part, 0.0) for part in parts) for time in times] for name, parts in _PARTS.items()
    }
    return tuple(Cost(name, float(np.mean(of)), float(np.median(of))) for name, of in found.items())
