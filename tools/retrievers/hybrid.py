"""Reciprocal rank fusion: several retrievers as one (Cormack, Clarke and Büttcher, SIGIR 2009)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..protocols import Retriever
from ..types import Passage, PassageKey

_DEPTH: Final = 100  # passages asked of each retriever, if no more are wanted of the fusion


class HybridRetriever:
    """A `Retriever` that asks others side by side and adds up 1 / (k + rank), rank from 1.

    `k` is 60 in the paper; the larger, the less the first ranks count. A passage found by several comes as
    the first of them gave it, with the fused score. Of equal scores the earlier retriever's goes first.

    A retriever that fails fails the search with its own error, once the others are done: a fusion that
    silently lacked one would give other answers to the same question.
    """

    def __init__(self, retrievers: Sequence[Retriever], *, k: float = 60.0) -> None:
        if not retrievers or k < 0:
            raise ValueError("a fusion needs a retriever, and k ≥ 0")
        self._retrievers = tuple(retrievers)
        self._k = k

    async def search(self, query: str, k: int) -> list[Passage]:
        """At most `k` passages, best first, scores fused; [] where all find nothing."""
        if k < 1:
            return []
        searches = (retriever.search(query, max(k, _DEPTH)) for retriever in self._retrievers)
        answers: list[list[Passage]] = []
        for answer in await asyncio.gather(*searches, return_exceptions=True):
            if isinstance(answer, BaseException):
                raise answer
            answers.append(answer)
        return self._fused(answers)[:k]

    def _fused(self, answers: Sequence[Sequence[Passage]]) -> list[Passage]:
        scores: dict[PassageKey, float] = {}
        found: dict[PassageKey, Passage] = {}
        for answer in answers:
            for rank, passage in enumerate(answer, 1):
                scores[passage.key] = scores.get(passage.key, 0.0) + 1.0 / (self._k + rank)
                found.setdefault(passage.key, passage)
        best = sorted(scores, key=lambda key: -scores[key])
        return [replace(found[key], score=scores[key]) for key in best]
