"""Arbitrated answers as arrays, so that any lambda and tau can be tried on all questions at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ....policies.resampling import Numbers
from ....policies.trustmargin import binding_margin, prior_margin
from ....policies.types import Source
from ....tools.normalisation import exact_match, f1
from .rows import ArbitrationRow

Measure = Literal["F1", "EM"]
MEASURES: Final[tuple[Measure, Measure]] = ("F1", "EM")
"""The columns of every array of grades."""

Choice = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """One row a question. Grades are F1 and EM in [0, 1], shape (questions, 2), 0 where the run failed.

    `prior` and `binding` are the margins in nats per token, shape (questions,), NaN where nothing had to be
    scored; `unscored` and `unscored_rag` are what was decided there, its grades and whether it was RAG.
    `between` says where there were two answers to choose from, of which one may have been empty.
    """

    direct: Numbers
    rag: Numbers
    prior: Numbers
    binding: Numbers
    unscored: Numbers
    unscored_rag: Choice
    between: Choice

    @classmethod
    def of(cls, rows: Sequence[ArbitrationRow]) -> Self:
        """The outcomes of at least one row with gold answers."""
        views = [row.likelihoods for row in rows]
        return cls(
            direct=np.array([_grades(row, row.direct) for row in rows]),
            rag=np.array([_grades(row, row.rag) for row in rows]),
            prior=np.array([prior_margin(found) if found else np.nan for found in views]),
            binding=np.array([binding_margin(found) if found else np.nan for found in views]),
            unscored=np.array([_grades(row, row.verdict.answer if row.verdict else None) for row in rows]),
            unscored_rag=np.array([_source(row) == "rag" for row in rows]),
            between=np.array([_source(row) in {"direct", "rag"} for row in rows]),
        )

    @property
    def scored(self) -> Choice:
        """Where the margins decide."""
        return ~np.isnan(self.prior)

    @property
    def oracle(self) -> Numbers:
        """The better of both answers by each measure (TrustMargin section 5.3)."""
        return np.maximum(self.direct, self.rag)

    def takes_rag(self, weight: float, tau: float, *, prior: bool = True) -> Choice:
        """Whether RAG's answer is chosen: M > tau, strictly; without `prior`, lambda M_bind > tau."""
        margin = (self.prior if prior else 0.0) + weight * self.binding
        return np.where(self.scored, margin > tau, self.unscored_rag)

    def chosen(self, weight: float, tau: float, *, prior: bool = True) -> Numbers:
        """Grades of the chosen answers."""
        rag = self.takes_rag(weight, tau, prior=prior)[:, None]
        return np.where(self.scored[:, None], np.where(rag, self.rag, self.direct), self.unscored)


def _source(row: ArbitrationRow) -> Source | None:
    return row.verdict.source if row.verdict else None


def _grades(row: ArbitrationRow, answer: str | None) -> tuple[float, float]:
    if row.error or answer is None:
        return 0.0, 0.0
    return f1(answer, row.answers), exact_match(answer, row.answers)
