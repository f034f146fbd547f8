"""Plain IDF overlap: how much of the question's rare wording is in the passages (Spärck Jones, 1972, A
Statistical Interpretation of Term Specificity and its Application in Retrieval)
"""

from collections.abc import Sequence

import numpy as np

from ...tools.protocols import WordPieces
from ...tools.types import Passage
from ..rinse.content import Coverage, question_pieces, source_texts, window_spans
from ..rinse.idf import PieceCounts
from .types import Scored


class IdfOverlap:
    """The mean over the question's windows of the best IDF-weighted overlap with one source, in [0, 1].

    This is the content reader's measure with nothing fitted on top of it.
    """

    name = "idf-overlap"

    def __init__(self, wordpieces: WordPieces, counts: PieceCounts) -> None:
        self._wordpieces = wordpieces
        self._counts = counts

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The mean overlap."""
        pieces = question_pieces(self._wordpieces, question) or ("",)
        held = [set(self._wordpieces.pieces(text)) for text in source_texts(passages)]
        found = np.array([[piece in source for source in held] for piece in pieces], dtype=np.bool_)
        coverage = Coverage(pieces, found, np.zeros(len(window_spans(len(pieces)))))
        return Scored(float(coverage.overlap(self._counts).mean()))
