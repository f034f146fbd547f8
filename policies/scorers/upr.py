"""UPR: how likely is the question, given a passage? (Sachan et al., 2022, Improving Passage Retrieval with
Zero-Shot Question Generation)
"""

import asyncio
from collections.abc import Sequence

from ...tools.errors import InputError
from ...tools.protocols import Generator
from ...tools.types import Passage
from .prompting import PromptTemplate
from .types import Scored

TEMPLATE = "Passage: {passage}\nWrite a question that this passage answers.\nQuestion:"


class UPR:
    """The largest mean log P(question token | passage) over passages."""

    name = "upr"

    def __init__(self, generator: Generator, template: str = TEMPLATE) -> None:
        self._generator = generator
        self._template = PromptTemplate(generator.capabilities, template, ("passage",))

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The maximum over passages, in nats a token. Raises InputError for a question without a token."""
        asked = self._template.quoted(question)
        means = await asyncio.gather(*(self._likelihood(asked, passage) for passage in passages))
        return Scored(max(means), note=self._template.note(passages))

    async def _likelihood(self, question: str, passage: Passage) -> float:
        prompt = self._template.prompt(passage=self._template.passage(passage))
        (logprobs,) = await self._generator.score(prompt, [prompt.lead + question])
        if not logprobs:
            raise InputError("the question has no token to be scored")
        return sum(logprobs) / len(logprobs)
