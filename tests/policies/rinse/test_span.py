import numpy as np
import pytest
from sufficit.policies.rinse.span import AnswerSpanReader
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.types import Passage

PASSAGES = [Passage("1", "one"), Passage("2", "two", title="Two"), Passage("3", "three")]


class Margins:
    fingerprint = "f"

    def __init__(self, *margins: float) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self._margins = margins

    async def margins(self, question, texts):
        self.asked.append((question, list(texts)))
        return np.array(self._margins, np.float32)


async def test_the_largest_margin_counts_and_titles_are_read():
    model = Margins(-2.0, 3.5, 1.0)
    reading = await AnswerSpanReader(model).read("who?", PASSAGES)
    assert reading.raw == 3.5
    assert model.asked == [("who?", ["one", "Two\ntwo", "three"])]


async def test_nan_is_an_error():
    with pytest.raises(ModelOutputError, match="span reader"):
        await AnswerSpanReader(Margins(1.0, float("nan"), 2.0)).read("who?", PASSAGES)
