"""The joint reader: a small encoder, trained on other families, that reads question and passages together.

It stands in the embedded profile beside, or in place of, the latent reader, whose frozen model is too small
there to tell much. (Design: what is known about small backbones)
"""

import math
from collections.abc import Sequence

from ...tools.errors import ModelOutputError
from ...tools.protocols import JointReader, Reranker
from ...tools.types import Passage
from ..types import Reading
from .content import passage_text
from .latent import strongest

MOST_PASSAGES = 20
"""More passages than this are cut to those that the reranker scores highest: it bounds time and memory."""


async def joint_score(
    question: str, passages: Sequence[Passage], reader: JointReader, reranker: Reranker
) -> float:
    """h_joint(q, E) for at least one passage. Raises ModelOutputError on NaN from either model."""
    kept = await strongest(question, passages, reranker, MOST_PASSAGES)
    score = await reader.sufficiency(question, [passage_text(passage) for passage in kept])
    if not math.isfinite(score):
        raise ModelOutputError("the joint reader returned NaN or infinity; check its weights")
    return score


class SetReader:
    """The joint reader over its model; the reranker chooses what it reads of many passages."""

    name = "joint"

    def __init__(self, reader: JointReader, reranker: Reranker) -> None:
        self._reader = reader
        self._reranker = reranker

    async def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """h_joint. Raises ModelOutputError on NaN from either model."""
        return Reading(await joint_score(question, passages, self._reader, self._reranker))
