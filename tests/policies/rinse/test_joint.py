import numpy as np
import pytest
from sufficit.policies.rinse.joint import MOST_PASSAGES, SetReader
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.types import Passage


class Recorded:
    """Stands for both models: longer texts are more relevant; the score is how many texts there are."""

    fingerprint = "f"

    def __init__(self, score: float | None = None) -> None:
        self.read: list[str] = []
        self._score = score

    async def score(self, queries, texts):
        return np.array([[len(text) for text in texts] for _ in queries], np.float32)

    async def sufficiency(self, question, texts):
        self.read = list(texts)
        return float(len(texts)) if self._score is None else self._score


async def test_all_passages_are_read_together():
    model = Recorded()
    passages = [Passage(str(k), f"text {k}", title="T" * (k == 1)) for k in range(3)]
    assert (await SetReader(model, model).read("who?", passages)).raw == 3.0
    assert model.read == ["text 0", "T\ntext 1", "text 2"]


async def test_of_many_passages_the_strongest_are_read_in_their_order():
    model = Recorded()
    passages = [Passage(str(k), "x" * (1 + (k * 7) % 30)) for k in range(30)]
    assert (await SetReader(model, model).read("who?", passages)).raw == MOST_PASSAGES
    assert min(map(len, model.read)) == 30 - MOST_PASSAGES + 1
    order = [passage.text for passage in passages]
    assert model.read == [text for text in order if text in set(model.read)]


async def test_nan_is_an_error():
    model = Recorded(float("nan"))
    with pytest.raises(ModelOutputError, match="joint reader"):
        await SetReader(model, model).read("who?", [Passage("1", "one")])
