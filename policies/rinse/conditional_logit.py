"""Conditional logistic regression within groups: which side of a pair is the sufficient one?

The likelihood of a sufficient-insufficient pair depends on its feature difference alone, so that whatever a
group's records share cancels. (Breslow et al., 1978; RINSE section 4)
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Vector = NDArray[np.float64]


def mean_loss(groups: Sequence[Vector], weights: Vector) -> float:
    """The mean over groups of the group's mean log(1 + exp(-w·d)) over its pairs; log 2 for w = 0."""
    return float(np.mean([np.logaddexp(0.0, -(group @ weights)).mean() for group in groups]))


def fit_weights(groups: Sequence[Vector], l2: float) -> Vector:
    """Weights w, shape (features,), without an intercept.

    Minimises the mean over groups of the group's mean log(1 + exp(-w·d)) over its pairs, plus l2/2 · |w|²:
    a group counts once however many pairs it has. `groups` holds each group's differences (pairs, features).
    Strictly convex, started at 0: the same data give the same weights.
    """
    differences = np.concatenate(groups)
    weight = np.concatenate([np.full(len(group), 1.0 / (len(groups) * len(group))) for group in groups])

    def loss(w: Vector) -> tuple[float, Vector]:
        margin = differences @ w
        value = float(weight @ np.logaddexp(0.0, -margin)) + 0.5 * l2 * float(w @ w)
        slope = -weight * np.exp(-np.logaddexp(0.0, margin))
        return value, slope @ differences + l2 * w

    start = np.zeros(differences.shape[1])
    result = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000, "gtol": 1e-9})
    return np.asarray(result.x, dtype=np.float64)
