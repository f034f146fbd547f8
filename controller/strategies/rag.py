"""Retrieve once, read all: the BM25-RAG of TrustMargin section 4.2 (Lewis et al., 2020, Retrieval-Augmented
Generation for Knowledge-Intensive NLP Tasks)
"""

from dataclasses import dataclass

from ...tools.protocols import Retriever
from .short_answers import ShortAnswers
from .strategy import Answered


@dataclass(frozen=True, slots=True)
class VanillaRAG:
    """Answers from the `passages` that the question itself finds."""

    retriever: Retriever
    answers: ShortAnswers
    passages: int = 20

    async def answer(self, question: str) -> Answered:
        """See Strategy."""
        return await self.answers.from_passages(
            question, await self.retriever.search(question, self.passages)
        )
