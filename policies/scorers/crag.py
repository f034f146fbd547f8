"""The CRAG retrieval evaluator: is a passage correct for the question? (Yan et al., 2024, Corrective
Retrieval Augmented Generation)
"""

from collections.abc import Sequence

from ...tools.protocols import Reranker
from ...tools.types import Passage
from .relevance import best_relevance
from .types import Scored


class CRAG:
    """The largest correct-class logit over passages. `evaluator` holds the released T5-large weights."""

    name = "crag"

    def __init__(self, evaluator: Reranker) -> None:
        self._evaluator = evaluator

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The maximum. Raises ModelOutputError on NaN."""
        return Scored(await best_relevance(self._evaluator, question, passages))
