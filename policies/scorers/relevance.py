"""The best passage's relevance: what a reranker says of single passages."""

from collections.abc import Sequence

import numpy as np

from ...tools.errors import ModelOutputError
from ...tools.protocols import Reranker
from ...tools.types import Passage
from ..rinse.content import passage_text


async def best_relevance(reranker: Reranker, question: str, passages: Sequence[Passage]) -> float:
    """The largest score of the question with one passage. Raises ModelOutputError on NaN or infinity."""
    scores = np.asarray(await reranker.score([question], [passage_text(passage) for passage in passages]))
    if not np.isfinite(scores).all():
        raise ModelOutputError("the relevance model returned NaN or infinity; check its weights")
    return float(scores.max())
