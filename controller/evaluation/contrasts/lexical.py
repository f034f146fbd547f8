"""A small in-memory inverted index: which documents share most words with a query."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_K1 = 1.2
_B = 0.75


class LexicalIndex:
    """BM25 (k1 = 1.2, b = 0.75) and IDF coverage over documents given as words."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, document in enumerate(documents):
            for word, count in Counter(document).items():
                postings[word].append((place, count))
        self._postings = {word: np.array(entries, dtype=np.int64).T for word, entries in postings.items()}
        lengths = np.array([len(document) for document in documents], dtype=np.float64)
        self._count = len(documents)
        mean = max(1.0, float(lengths.sum()) / max(1, self._count))
        self._saturation = _K1 * (1 - _B + _B * lengths / mean)
        self._weights = np.zeros(self._count)
        for word, (places, _) in self._postings.items():
            self._weights[places] += self._idf(word)

    def bm25(self, query: Sequence[str]) -> NDArray[np.float64]:
        """BM25 of every document for the query's words; shape (documents,)."""
        scores = np.zeros(self._count)
        for word in query:
            if word in self._postings:
                places, counts = self._postings[word]
                scores[places] += self._idf(word) * counts * (_K1 + 1) / (counts + self._saturation[places])
        return scores

    def coverage(self, words: Sequence[str]) -> NDArray[np.float64]:
        """The share, in [0, 1], of each document's IDF weight that lies on `words`; shape (documents,)."""
        scores = np.zeros(self._count)
        for word in dict.fromkeys(words):  # in their order, so that the sum rounds alike on every run
            if word in self._postings:
                scores[self._postings[word][0]] += self._idf(word)
        return scores / np.maximum(self._weights, 1e-12)

    def _idf(self, word: str) -> float:
        frequency = len(self._postings[word][0])
        return float(np.log1p((self._count - frequency + 0.5) / (frequency + 0.5)))
