"""The retrieval evaluator of CRAG: a T5 sequence classifier over `question [SEP] passage`."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..models.compute import Device
from .classifier import SequenceClassifier

SEPARATOR = " [SEP] "


class CragEvaluator:
    """A Reranker by the evaluator's logit of the correct class, the last of its one or more labels.

    A passage that is longer than the model reads beside the question counts by its best window.
    """

    def __init__(self, classifier: SequenceClassifier) -> None:
        self._classifier = classifier

    @classmethod
    def load(cls, model: str, *, device: Device = "auto", threads: int | None = None) -> Self:
        """Load a folder or hub name. Raises ModelMissing where it is not on this machine."""
        return cls(SequenceClassifier.load(model, device=device, threads=threads))

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer."""
        return self._classifier.fingerprint

    async def score(self, queries: Sequence[str], texts: Sequence[str]) -> NDArray[np.float32]:
        """Logits, float32, shape (queries, texts). Raises ModelOutputError where the model returns NaN."""
        rows = [[await self._best(query, text) for text in texts] for query in queries]
        return np.array(rows, np.float32).reshape(len(queries), len(texts))

    async def _best(self, query: str, text: str) -> float:
        head = self._cut(query)
        inputs = [f"{head}{SEPARATOR}{window}" for window in self._windows(head, text)]
        tokenizer, limit = self._classifier.tokenizer, self._classifier.max_tokens
        logits = await self._classifier.logits(tokenizer(inputs, truncation=True, max_length=limit))
        return float(logits[:, -1].max())

    def _cut(self, query: str) -> str:
        """The question's beginning, at most half of what the model reads."""
        offsets, half = self._offsets(query), self._classifier.max_tokens // 2
        return query if len(offsets) <= half else query[: offsets[half - 1][1]]

    def _windows(self, head: str, text: str) -> list[str]:
        """Stretches of the passage that fit beside the question, each overlapping the next by a quarter."""
        offsets = self._offsets(text)
        # Eight tokens are left for special ones and for what changes where texts are joined.
        room = max(8, self._classifier.max_tokens - len(self._offsets(head + SEPARATOR)) - 8)
        if len(offsets) <= room:
            return [text]
        step = room - room // 4
        starts = range(0, len(offsets) - room // 4, step)
        return [text[offsets[s][0] : offsets[min(s + room, len(offsets)) - 1][1]] for s in starts]

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        encoded = self._classifier.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        offsets: list[tuple[int, int]] = encoded["offset_mapping"]
        return offsets
