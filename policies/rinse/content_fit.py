"""Fitting the content reader: its head, on every pair of every group, and the head's penalty."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .conditional_logit import fit_weights, mean_loss
from .content import ContentModel, Coverage, profile_features
from .idf import PieceCounts
from .provenance import PenaltyChoice
from .records import ContrastRecord, pairs
from .sampling import family_folds

PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0)
"""L2 penalties that `fit` chooses from, on training families only."""

Rows = NDArray[np.float64]


def fit_content(
    records: Sequence[ContrastRecord], coverages: Sequence[Coverage], counts: PieceCounts
) -> tuple[ContentModel, tuple[PenaltyChoice, ...]]:
    """The content reader's head, and how each penalty did.

    The sixteen features move together, so a weak penalty fits what is peculiar to the training families.
    Every training family is scored by a head that was fitted on the others, and the penalty is the one under
    which the family that fares worst fares best: what the head will be asked about may be like any of them.
    """
    features = np.array([profile_features(c.overlap(counts), c.relevance) for c in coverages])
    center, spread = features.mean(axis=0), features.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    rows = (features - center) / scale
    choices = tuple(PenaltyChoice(l2=l2, loss=_worst_loss(records, rows, l2)) for l2 in PENALTIES)
    best = min(choices, key=lambda choice: choice.loss)
    return ContentModel(counts, fit_weights(_differences(records, rows), best.l2), center, scale), choices


def _differences(records: Sequence[ContrastRecord], rows: Rows) -> list[Rows]:
    """For every group, the feature differences of its pairs; shape (pairs, features) each."""
    groups: dict[str, list[Rows]] = {}
    for pair in pairs(records):
        groups.setdefault(pair.group, []).append(rows[pair.sufficient] - rows[pair.insufficient])
    return [np.array(group) for group in groups.values()]


def _worst_loss(records: Sequence[ContrastRecord], rows: Rows, l2: float) -> float:
    """The largest over folds of a fold's mean loss under the head that was fitted on the others.

    Of guessing, where no fold can be scored.
    """
    folds = family_folds(records)
    losses = []
    for fold in np.unique(folds):
        inside, outside = np.flatnonzero(folds == fold).tolist(), np.flatnonzero(folds != fold).tolist()
        seen = _differences([records[i] for i in outside], rows[outside])
        held = _differences([records[i] for i in inside], rows[inside])
        if seen and held:
            losses.append(mean_loss(held, fit_weights(seen, l2)))
    return max(losses, default=float(np.log(2)))
