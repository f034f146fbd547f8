"""What a classifier that sees only one part of a record can tell of its label (RINSE Appendix C).

Word unigrams and bigrams are hashed into 16,384 dimensions by a four-byte BLAKE2b digest and weighted by
log(1 + tf) times the training folds' IDF, log((n + 1) / (df + 1)) + 1; rows have unit length. Logistic
regression with intercept: 300 full-batch gradient steps at rate 0.5, L2 coefficient 1. Five folds of whole
groups; every record is scored by the model of the other four.
"""

import hashlib
from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from .cues import cue_words

DIMENSIONS = 16_384
FOLDS = 5
SEED = 17
STEPS = 300
RATE = 0.5
L2 = 1.0

Array = NDArray[np.float64]


@lru_cache(maxsize=1_000_000)
def slot(gram: str) -> int:
    """The dimension of a unigram, or of a bigram joined by a space."""
    digest = hashlib.blake2b(gram.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest) % DIMENSIONS


def term_counts(texts: Sequence[str]) -> csr_array[np.float64]:
    """tf of every text; shape (texts, DIMENSIONS)."""
    rows = [_slots(text) for text in texts]
    starts = np.cumsum([0, *map(len, rows)])
    columns = (
        np.concatenate([np.array(row, dtype=np.int64) for row in rows]) if rows else np.zeros(0, np.int64)
    )
    counts = csr_array((np.ones(len(columns)), columns, starts), shape=(len(rows), DIMENSIONS))
    counts.sum_duplicates()
    return counts


def _slots(text: str) -> list[int]:
    words = cue_words(text)
    return [*map(slot, words), *(slot(f"{first} {second}") for first, second in pairwise(words))]


def held_out_probabilities(
    texts: Sequence[str], labels: Sequence[bool], groups: Sequence[Hashable]
) -> list[float]:
    """The probability of label true for every text, by a model that has not seen its group.

    With fewer groups than folds, a fold may be empty. A fold whose training part holds one label only gives
    its share of that label to every text: there is nothing to learn.
    """
    counts = term_counts(texts)
    truth = np.asarray(labels, dtype=np.float64)
    fold = _folds(groups)
    found = np.zeros(len(texts))
    for number in range(FOLDS):
        tested = fold == number
        if tested.any():
            found[tested] = _fold(counts, truth, tested)
    return found.tolist()


def _folds(groups: Sequence[Hashable]) -> NDArray[np.int64]:
    """The fold of every record: whole groups, dealt out in an order drawn by the seed."""
    names = sorted(set(groups), key=str)
    order = np.random.default_rng(SEED).permutation(len(names))
    dealt = {names[place]: position % FOLDS for position, place in enumerate(order)}
    return np.array([dealt[group] for group in groups])


def _fold(counts: csr_array[np.float64], truth: Array, tested: NDArray[np.bool_]) -> Array:
    training = counts[~tested]
    seen = truth[~tested]
    if not len(seen) or seen.min() == seen.max():
        return np.full(int(tested.sum()), seen.mean() if len(seen) else 0.5)
    df = np.bincount(training.indices, minlength=DIMENSIONS)
    idf = np.log((training.shape[0] + 1) / (df + 1)) + 1
    weights, intercept = fit_logistic(_features(training, idf), seen)
    return expit(_times(_features(counts[tested], idf), weights) + intercept)


def _features(counts: csr_array[np.float64], idf: Array) -> csr_array[np.float64]:
    """log(1 + tf) · idf at unit length."""
    features = counts.copy()
    features.data = np.log1p(features.data) * idf[features.indices]
    lengths = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())
    features.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(features.indptr))
    return features


def fit_logistic(features: csr_array[np.float64], labels: Array) -> tuple[Array, float]:
    """Weights and intercept that lessen Σ log-loss + L2/2 · |w|², both over the number of rows.

    The paper names the coefficient, not its scale; with the penalty on the sum of losses, as in common
    libraries, all 300 steps matter.
    """
    count = len(labels)
    transposed = features.T.tocsr()
    weights, intercept = np.zeros(features.shape[1]), 0.0
    for _ in range(STEPS):
        error = expit(_times(features, weights) + intercept) - labels
        weights = weights - RATE * (_times(transposed, error) + L2 * weights) / count
        intercept -= RATE * float(error.mean())
    return weights, intercept


def _times(matrix: csr_array[np.float64], vector: Array) -> Array:
    return np.asarray(matrix @ vector, dtype=np.float64)
