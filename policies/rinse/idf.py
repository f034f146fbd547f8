"""Inverse document frequencies of word pieces, counted on training passages and carried by the artifact."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PieceCounts:
    """In how many of `documents` distinct passages each piece occurs."""

    documents: int
    counts: Mapping[str, int]

    @staticmethod
    def of(documents: Iterable[Iterable[str]]) -> "PieceCounts":
        """Count passages, each given as its pieces; a piece counts once a passage."""
        counts: Counter[str] = Counter()
        total = 0
        for pieces in documents:
            counts.update(set(pieces))
            total += 1
        return PieceCounts(total, counts)

    @staticmethod
    def sum(parts: Iterable["PieceCounts"]) -> "PieceCounts":
        """Counts over several disjoint sets of passages."""
        counts: Counter[str] = Counter()
        total = 0
        for part in parts:
            counts.update(part.counts)
            total += part.documents
        return PieceCounts(total, counts)

    def idf(self, pieces: Sequence[str]) -> NDArray[np.float64]:
        """log(1 + (N - df + 1/2) / (df + 1/2)) of every piece, always above 0; shape (pieces,).

        A piece that no training passage holds has df = 0, which is the largest value there is.
        """
        df = np.array([self.counts.get(piece, 0) for piece in pieces], dtype=np.float64)
        return np.log1p((self.documents - df + 0.5) / (df + 0.5))
