"""Cues that do not establish whether the passages answer the question (RINSE section 3.3, Appendix C)."""

import re
from collections.abc import Sequence

import numpy as np

from ....policies.rinse.content import passage_text
from ....policies.rinse.idf import PieceCounts
from ....policies.rinse.records import ContrastRecord

_WORD = re.compile(r"\w+")


def cue_words(text: str) -> list[str]:
    """All words of a text, in lower case and in their order."""
    return _WORD.findall(text.lower())


def passage_counts(records: Sequence[ContrastRecord]) -> list[float]:
    """|E| of every record."""
    return [float(len(record.passages)) for record in records]


class MinimumCoverage:
    """The lowest share of the question's IDF-weighted words that any one passage holds, in [0, 1].

    IDF weights are counted once, on the distinct passages of `records`: those before any are added.
    """

    def __init__(self, records: Sequence[ContrastRecord]) -> None:
        texts = {passage_text(passage) for record in records for passage in record.passages}
        self._counts = PieceCounts.of(map(cue_words, texts))
        self._held: dict[str, frozenset[str]] = {}

    def of(self, records: Sequence[ContrastRecord]) -> list[float]:
        """The minimum of every record; a question without a word has 0."""
        return [self._minimum(record) for record in records]

    def _minimum(self, record: ContrastRecord) -> float:
        asked = list(dict.fromkeys(cue_words(record.question)))
        weights = self._counts.idf(asked)
        if not asked:
            return 0.0
        shares = [
            weights @ np.array([word in held for word in asked])
            for held in (self._words(passage_text(passage)) for passage in record.passages)
        ]
        return float(min(shares) / weights.sum())

    def _words(self, text: str) -> frozenset[str]:
        if text not in self._held:
            self._held[text] = frozenset(cue_words(text))
        return self._held[text]
