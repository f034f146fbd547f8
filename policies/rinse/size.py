"""Size correction and standardisation: what a reader's raw score owes to the number of passages alone.

RINSE section 4, Appendix D. Inside the training range the trend is ĉ(n) = α + β log(1 + n). Beyond the
largest training set N, readers with a padding curve f follow ĉ(n) = α + β log(1 + N) + f(n) - f(N).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

# Bounds that hold when an artifact is read; inside, the numbers come from `fit_standard` and keep them.
Finite = Annotated[float, Field(allow_inf_nan=False)]
DECILES = np.linspace(0.0, 1.0, 11)


@dataclass(frozen=True, slots=True)
class PaddingCurve:
    """f, piecewise linear in log(1 + n) between `knots` (ascending, in that unit), flat outside them."""

    knots: tuple[Finite, ...]
    values: tuple[Finite, ...]

    def at(self, size: int) -> float:
        """f(size)."""
        return float(np.interp(np.log1p(size), self.knots, self.values))


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """ĉ(n). `largest` is N; without `padding` the linear trend holds at every size."""

    alpha: Finite
    beta: Finite
    largest: Annotated[int, Field(ge=1)]
    padding: PaddingCurve | None = None

    def at(self, size: int) -> float:
        """ĉ(size), in the reader's own unit."""
        if self.padding is None or size <= self.largest:
            return self.alpha + self.beta * float(np.log1p(size))
        edge = self.alpha + self.beta * float(np.log1p(self.largest))
        return edge + self.padding.at(size) - self.padding.at(self.largest)


@dataclass(frozen=True, slots=True)
class Standard:
    """How one reader's raw score becomes its part of the sum: (h - ĉ(n) - μ) / σ."""

    curve: SizeCurve
    mu: Finite
    sigma: Annotated[Finite, Field(gt=0)]

    def standardise(self, raw: float, size: int) -> float:
        """The reader's term of s(q, E)."""
        return (raw - self.curve.at(size) - self.mu) / self.sigma


def fit_standard(
    sizes: Sequence[int], raws: Sequence[float], padding: PaddingCurve | None = None
) -> Standard:
    """Least squares over training records, then mean and standard deviation of what is left.

    Records of one size only give β = 0. Scores without any spread give σ = 1: such a reader adds nothing.
    """
    logs = np.log1p(np.asarray(sizes, dtype=np.float64))
    scores = np.asarray(raws, dtype=np.float64)
    spread = logs - logs.mean()
    variance = float(spread @ spread)
    beta = float(spread @ scores) / variance if variance > 1e-12 else 0.0
    alpha = float(scores.mean() - beta * logs.mean())
    curve = SizeCurve(alpha, beta, int(max(sizes)), padding)
    rest = np.array([raw - curve.at(size) for raw, size in zip(raws, sizes, strict=True)])
    sigma = float(rest.std())
    return Standard(curve, float(rest.mean()), sigma if sigma > 1e-12 else 1.0)


def fit_padding(records: Sequence[str], sizes: Sequence[int], raws: Sequence[float]) -> PaddingCurve | None:
    """f by least squares *within* records: each record's own mean is taken off first.

    `records[i]` names the record whose version with `sizes[i]` passages scored `raws[i]`. None where no
    record stands there in two sizes. f is known up to a constant only; its first knot is set to 0.
    """
    logs = np.log1p(np.asarray(sizes, dtype=np.float64))
    knots = np.unique(np.quantile(logs, DECILES)) if len(logs) else logs
    if len(knots) < 2:
        return None
    basis = np.column_stack([np.interp(logs, knots, row) for row in np.eye(len(knots))])
    names, owner = np.unique(np.asarray(records), return_inverse=True)
    basis = _centred(basis, owner, len(names))
    scores = _centred(np.asarray(raws, dtype=np.float64)[:, None], owner, len(names))[:, 0]
    if not np.abs(basis).max() > 1e-9:
        return None
    values = np.linalg.lstsq(basis, scores, rcond=1e-9)[0]
    return PaddingCurve(tuple(map(float, knots)), tuple(map(float, values - values[0])))


def _centred(rows: NDArray[np.float64], owner: ArrayLike, count: int) -> NDArray[np.float64]:
    """Rows less the mean of their owner's rows."""
    index = np.asarray(owner)
    sums = np.zeros((count, rows.shape[1]))
    np.add.at(sums, index, rows)
    means: NDArray[np.float64] = sums / np.bincount(index, minlength=count)[:, None]
    centred: NDArray[np.float64] = rows - means[index]
    return centred
