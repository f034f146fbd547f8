"""A similarity gate: the rule that semantic caches use, in the place of RINSE."""

from collections.abc import Sequence

from ..tools.protocols import Reranker
from ..tools.types import Passage
from .scorers.relevance import best_relevance
from .types import ReaderScore, SufficiencyReport


class SimilarityGate:
    """Sufficiency by relevance alone: the evidence suffices if one passage is similar enough to the question.

    The score is the largest, a cosine in [-1, 1] where the model is a sentence encoder. It says nothing of
    which part of the question is not covered, so the next query rests on the question's entities alone.
    """

    def __init__(self, reranker: Reranker, threshold: float) -> None:
        self._reranker = reranker
        self._threshold = threshold

    async def score(self, question: str, passages: Sequence[Passage]) -> SufficiencyReport:
        """Score the evidence set; an empty one gets a report without a score.

        Raises ModelOutputError where the model returns NaN or infinity.
        """
        if not passages:
            return SufficiencyReport(None, self._threshold, (), (), 0)
        best = await best_relevance(self._reranker, question, passages)
        reader = ReaderScore("similarity", best, 0.0, best)
        return SufficiencyReport(best, self._threshold, (reader,), (), len(passages))
