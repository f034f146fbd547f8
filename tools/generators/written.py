"""The log-probabilities of answers that the model has just written: scoring them again needs no pass."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from ..types import Generation

ANSWERS = 512


class WrittenAnswers:
    """The greedy answers written last, at most `capacity`, by the ids of their prompts.

    Callers may sit on any thread.
    """

    def __init__(self, capacity: int = ANSWERS) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[int, ...], Generation] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, prompt: tuple[int, ...], answer: Generation) -> None:
        """Remember what was written after `prompt`; the answer kept for longest makes room."""
        with self._lock:
            self._kept[prompt] = answer
            self._kept.move_to_end(prompt)
            if len(self._kept) > self._capacity:
                self._kept.popitem(last=False)

    def logprobs(self, prompt: tuple[int, ...], continuation: Sequence[int]) -> tuple[float, ...] | None:
        """Of every token of `continuation`; None unless the answer written after `prompt` begins with it."""
        answer, count = self._kept.get(prompt), len(continuation)
        if answer is None or tuple(continuation) != answer.token_ids[:count]:
            return None
        return answer.logprobs[:count]
