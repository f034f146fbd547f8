"""The latent reader's direction, and where in the model it is read. (RINSE section 4)"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

States = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LatentSample:
    """Unit-length states of training records under one prompt.

    `states` has shape (records, layers, width), `families`, `groups` and `sufficient` one entry a record.
    """

    states: States
    families: Sequence[str]
    groups: Sequence[str]
    sufficient: Sequence[bool]

    def subset(self, keep: NDArray[np.bool_]) -> "LatentSample":
        """The records where `keep` holds."""
        index = np.flatnonzero(keep).tolist()
        return LatentSample(
            self.states[index],
            [self.families[i] for i in index],
            [self.groups[i] for i in index],
            [self.sufficient[i] for i in index],
        )


def fit_direction(sample: LatentSample) -> NDArray[np.float64]:
    """u of every layer, shape (layers, width).

    The mean over families of the family's mean sufficient state minus its mean insufficient state. A family
    without both labels says nothing.
    """
    families = np.array(sample.families)
    sufficient = np.array(sample.sufficient, dtype=np.bool_)
    differences = []
    for family in sorted(set(sample.families)):
        positive, negative = (families == family) & sufficient, (families == family) & ~sufficient
        if positive.any() and negative.any():
            means = [sample.states[rows].mean(axis=0, dtype=np.float64) for rows in (positive, negative)]
            differences.append(means[0] - means[1])
    return np.mean(differences, axis=0) if differences else np.zeros(sample.states.shape[1:])


def layer_accuracies(sample: LatentSample) -> NDArray[np.float64]:
    """Mean pairwise accuracy of every layer over families, each scored by the others' direction; (layers,).

    With one family only, each half of its groups is scored by the other half's direction.
    """
    if len(set(sample.families)) > 1:
        folds = np.array(sample.families)
    else:
        order = {group: number for number, group in enumerate(sorted(set(sample.groups)))}
        folds = np.array([str(order[group] % 2) for group in sample.groups])
    rows = []
    for fold in sorted(set(folds)):
        direction = fit_direction(sample.subset(folds != fold))
        held = sample.subset(folds == fold)
        rows.append(_accuracies(held, direction))
    means: NDArray[np.float64] = np.nanmean(np.array(rows), axis=0)
    return means


def _accuracies(sample: LatentSample, direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pairwise accuracy of every layer, ties at one half; NaN where there is no pair."""
    scores = np.einsum("rlw,lw->rl", sample.states, direction)
    first, second = pair_indices(sample.groups, sample.sufficient)
    if not len(first):
        return np.full(scores.shape[1], np.nan)
    margins = scores[first] - scores[second]
    accuracies: NDArray[np.float64] = ((margins > 0) + 0.5 * (margins == 0)).mean(axis=0)
    return accuracies


def pair_indices(
    groups: Sequence[str], sufficient: Sequence[bool]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of both sides of every sufficient-insufficient pair within a group."""
    members: dict[str, tuple[list[int], list[int]]] = {}
    for position, (group, label) in enumerate(zip(groups, sufficient, strict=True)):
        members.setdefault(group, ([], []))[0 if label else 1].append(position)
    pairs = [(i, j) for yes, no in members.values() for i in yes for j in no]
    array = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return array[:, 0], array[:, 1]
