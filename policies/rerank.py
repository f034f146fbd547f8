"""What IGP is compared with: rivals that only order the candidates (IGP, section 4.1.5 and Table 3).

All sit behind `Pruner`, with the same truncation to M passages and B tokens. They measure no prompt: a
passage longer than the context takes a place, and the answer's prompt leaves it out. IG order without pruning
is IGP itself with T_p = -inf.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from ..tools.types import Passage
from .igp import IGPSettings, Probe, ranked, report_on
from .scorers.types import Scorer
from .types import PassageGain, PruneReport

RELEVANCE_TEMPLATE = (
    "Read the passage and decide whether it is relevant to the question.\n"
    "Question: {question}\n{passages}\nIs the passage relevant to the question? Say yes or no.\nAnswer:"
)
"""The Yes/No rival asks about one passage's relevance; the scorer of that name asks about sufficiency."""


class RetrieverOrder:
    """Pruner that keeps the retriever's order; no model is asked."""

    def __init__(self, probe: Probe, settings: IGPSettings) -> None:
        self._probe = probe
        self._settings = settings

    async def prune(
        self,
        question: str,  # noqa: ARG002  the retriever has read it
        passages: Sequence[Passage],
        baseline: float,
    ) -> PruneReport:
        """The first passages, as many as M and B allow; their gains are the retriever's scores, if any."""
        gains = [
            PassageGain(passage.key, None, passage.score, 0, self._probe.tokens(passage), True, "")
            for passage in passages
        ]
        return replace(report_on(gains, baseline, self._settings), method="retriever")


class Reranked:
    """Pruner in the order of a scorer that reads one passage at a time, such as a cross-encoder.

    Ties keep the retriever's order.
    """

    def __init__(self, scorer: Scorer, probe: Probe, settings: IGPSettings) -> None:
        self._scorer = scorer
        self._probe = probe
        self._settings = settings

    async def prune(self, question: str, passages: Sequence[Passage], baseline: float) -> PruneReport:
        """The best-scored passages, as many as M and B allow. Raises as the scorer does."""
        scores = await asyncio.gather(*(self._scorer.score(question, [passage]) for passage in passages))
        gains = [
            PassageGain(passage.key, None, scored.value, 0, self._probe.tokens(passage), True, "")
            for passage, scored in zip(passages, scores, strict=True)
        ]
        return replace(report_on(ranked(gains), baseline, self._settings), method=self._scorer.name)
