import asyncio
from dataclasses import dataclass, field

import pytest
from sufficit.tools.errors import ToolError
from sufficit.tools.retrievers.hybrid import HybridRetriever
from sufficit.tools.types import Passage


@dataclass
class Listed:
    """Finds what it is given, when all of its partners have been asked."""

    passages: str
    together: asyncio.Barrier | None = None
    asked: list[int] = field(default_factory=list)

    async def search(self, query: str, k: int) -> list[Passage]:
        self.asked.append(k)
        if self.together is not None:
            await self.together.wait()
        return [
            Passage(name, f"{name} of {self.passages}", score=9.0 - n) for n, name in enumerate(self.passages)
        ][:k]


class Failing:
    async def search(self, query: str, k: int) -> list[Passage]:
        raise ToolError("the second retriever failed")


async def test_reciprocal_ranks_add_up():
    found = await HybridRetriever([Listed("abc"), Listed("cbd")]).search("q", 9)
    scores = {"b": 2 / 62, "c": 1 / 63 + 1 / 61, "a": 1 / 61, "d": 1 / 63}
    assert {p.id: p.score for p in found} == pytest.approx(scores)
    assert [p.id for p in found] == ["c", "b", "a", "d"]


async def test_equal_scores_keep_the_order_of_the_retrievers():
    found = await HybridRetriever([Listed("ab"), Listed("ba")]).search("q", 9)
    assert [p.id for p in found] == ["a", "b"]
    assert found[1].text == "b of ab"


async def test_the_constant_and_the_depth():
    first, second = Listed("ab"), Listed("c")
    found = await HybridRetriever([first, second], k=0).search("q", 2)
    assert [(p.id, p.score) for p in found] == [("a", 1.0), ("c", 1.0)]
    assert first.asked == [100]
    await HybridRetriever([first]).search("q", 250)
    assert first.asked == [100, 250]
    assert await HybridRetriever([first]).search("q", 0) == []


async def test_retrievers_are_asked_side_by_side():
    together = asyncio.Barrier(2)
    hybrid = HybridRetriever([Listed("a", together), Listed("b", together)])
    assert len(await asyncio.wait_for(hybrid.search("q", 2), 5)) == 2


async def test_one_that_fails_fails_the_search_when_the_others_are_done():
    slow = Listed("a")
    with pytest.raises(ToolError, match="second"):
        await HybridRetriever([Failing(), slow]).search("q", 2)
    assert slow.asked == [100]


def test_nothing_to_fuse():
    with pytest.raises(ValueError, match="needs a retriever"):
        HybridRetriever([])
