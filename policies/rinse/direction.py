"""The latent reader's direction, and where in the model it is read. (RINSE section 4)"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .records import ContrastRecord, pairs
from .sampling import family_folds

States = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LatentSample:
    """Unit-length states of training records under one prompt.

    `states` has shape (records, layers, width).
    """

    records: Sequence[ContrastRecord]
    states: States

    def subset(self, keep: NDArray[np.bool_]) -> "LatentSample":
        """The records where `keep` holds."""
        index = np.flatnonzero(keep).tolist()
        return LatentSample([self.records[i] for i in index], self.states[index])


def fit_direction(sample: LatentSample) -> NDArray[np.float64]:
    """u of every layer, shape (layers, width).

    The mean over families of the family's mean sufficient state minus its mean insufficient state. A family
    without both labels says nothing.
    """
    families = np.array([record.family for record in sample.records])
    labels = np.array([record.label for record in sample.records], dtype=np.bool_)
    differences = []
    for family in np.unique(families):
        positive, negative = (families == family) & labels, (families == family) & ~labels
        if positive.any() and negative.any():
            means = [sample.states[rows].mean(axis=0, dtype=np.float64) for rows in (positive, negative)]
            differences.append(means[0] - means[1])
    return np.mean(differences, axis=0) if differences else np.zeros(sample.states.shape[1:])


def layer_accuracies(sample: LatentSample) -> NDArray[np.float64]:
    """Mean pairwise accuracy of every layer over families, each scored by the others' direction; (layers,).

    With one family only, each half of its groups is scored by the other half's direction.
    """
    folds = family_folds(sample.records)
    rows = []
    for fold in np.unique(folds):
        direction = fit_direction(sample.subset(folds != fold))
        held = sample.subset(folds == fold)
        rows.append(_accuracies(held, direction))
    means: NDArray[np.float64] = np.nanmean(np.array(rows), axis=0)
    return means


def _accuracies(sample: LatentSample, direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pairwise accuracy of every layer, ties at one half; NaN where there is no pair."""
    scores = np.einsum("rlw,lw->rl", sample.states, direction)
    places = [(pair.sufficient, pair.insufficient) for pair in pairs(sample.records)]
    if not places:
        return np.full(scores.shape[1], np.nan)
    first, second = np.array(places).T
    margins = scores[first] - scores[second]
    accuracies: NDArray[np.float64] = ((margins > 0) + 0.5 * (margins == 0)).mean(axis=0)
    return accuracies
