"""Fitting the content reader: its head, on every pair of every group, and the head's penalty."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .accuracy import group_wins
from .conditional_logit import fit_weights
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

    The sixteen features move together, so a weak penalty fits what is peculiar to the training families. The
    penalty is the one whose heads do best on training families that they have not seen.
    """
    features = np.array([profile_features(c.overlap(counts), c.relevance) for c in coverages])
    center, spread = features.mean(axis=0), features.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    rows = (features - center) / scale
    choices = tuple(
        PenaltyChoice(l2=l2, accuracy=_accuracy_across_folds(records, rows, l2)) for l2 in PENALTIES
    )
    best = max(choices, key=lambda choice: choice.accuracy)
    return ContentModel(counts, fit_weights(_differences(records, rows), best.l2), center, scale), choices


def _differences(records: Sequence[ContrastRecord], rows: Rows) -> list[Rows]:
    """For every group, the feature differences of its pairs; shape (pairs, features) each."""
    groups: dict[str, list[Rows]] = {}
    for pair in pairs(records):
        groups.setdefault(pair.group, []).append(rows[pair.sufficient] - rows[pair.insufficient])
    return [np.array(group) for group in groups.values()]


def _accuracy_across_folds(records: Sequence[ContrastRecord], rows: Rows, l2: float) -> float:
    """Mean over folds of the pairwise accuracy of a head that was fitted on the other folds."""
    folds = family_folds(records)
    accuracies = []
    for fold in np.unique(folds):
        inside, outside = np.flatnonzero(folds == fold).tolist(), np.flatnonzero(folds != fold).tolist()
        seen = _differences([records[i] for i in outside], rows[outside])
        if not seen:
            continue
        weights = fit_weights(seen, l2)
        held = list(pairs([records[i] for i in inside]))
        wins, counts = group_wins(held, list(rows[inside] @ weights))
        accuracies.append(float(wins.sum() / counts.sum()))
    return float(np.mean(accuracies)) if accuracies else 0.5
