"""Cosine similarity of question and passage, as dense retrieval thresholds it (Reimers and Gurevych, 2019,
Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks)
"""

from collections.abc import Sequence

from ...tools.protocols import Reranker
from ...tools.types import Passage
from .relevance import best_relevance
from .types import Scored


class Cosine:
    """The largest cosine over passages, in [-1, 1]."""

    name = "cosine"

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The maximum. Raises ModelOutputError on NaN."""
        return Scored(await best_relevance(self._reranker, question, passages))
