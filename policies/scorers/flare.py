"""FLARE: how improbable is the least probable token of the answer? (Jiang et al., 2023, Active Retrieval
Augmented Generation)
"""

import math
from collections.abc import Sequence

from ...tools.errors import ModelOutputError
from ...tools.protocols import Generator
from ...tools.types import Passage
from ..answering import AnswerPrompts
from .answers import ANSWER_TOKENS, Answerer
from .types import Scored


class FLARE:
    """The smallest token log-probability of the greedy answer; no further retrieval is run.

    An answer without a token is scored by the step that ended it.
    """

    name = "flare"

    def __init__(self, generator: Generator, prompts: AnswerPrompts | None = None) -> None:
        self._generator = generator
        self._answerer = Answerer(generator, prompts)

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The minimum, in nats, at most 0. Raises ModelOutputError on NaN."""
        asked = self._answerer.ask(question, passages)
        (rollout,) = await self._generator.rollout([asked.prompt], ANSWER_TOKENS, 1)
        values = rollout.generation.logprobs or tuple(step[0] for step in rollout.steps if step)
        if not values or not all(map(math.isfinite, values)):
            raise ModelOutputError("the generator gave no finite log-probabilities; check its dtype")
        return Scored(min(values), note=asked.note)
