import numpy as np
import pytest
from sufficit.policies.scorers.cosine import Cosine
from sufficit.policies.scorers.crag import CRAG
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.types import Passage


class FixedReranker:
    fingerprint = "fixed"

    def __init__(self, *scores: float) -> None:
        self.scores = scores
        self.texts: list[str] = []

    async def score(self, queries, texts):
        self.texts += texts
        return np.array([self.scores], np.float32)


@pytest.mark.parametrize("scorer", [Cosine, CRAG])
async def test_the_best_passage_counts(scorer):
    reranker = FixedReranker(0.25, 0.75)
    scored = await scorer(reranker).score("Who?", [Passage("1", "a", title="T"), Passage("2", "b")])
    assert scored.value == 0.75
    assert reranker.texts == ["T\na", "b"]


@pytest.mark.parametrize("scorer", [Cosine, CRAG])
async def test_nan_is_refused_though_another_passage_is_fine(scorer):
    with pytest.raises(ModelOutputError):
        await scorer(FixedReranker(0.25, float("nan"))).score("Who?", [Passage("1", "a"), Passage("2", "b")])
