"""The Self-RAG critic: [Relevant] or [Irrelevant]? (Asai et al., 2024, Self-RAG: Learning to Retrieve,
Generate, and Critique through Self-Reflection)
"""

import asyncio
import math
from collections.abc import Sequence

from ...tools.errors import CapabilityError, ModelOutputError
from ...tools.protocols import Generator
from ...tools.types import Passage
from .prompting import PromptTemplate
from .types import Scored

RELEVANT, IRRELEVANT = "[Relevant]", "[Irrelevant]"
TEMPLATE = (
    "### Instruction:\nJudge whether the evidence bears on the task and helps to fulfil it. Reply [Relevant] "
    "or [Irrelevant].\n\n### Input:\nTask instruction: {question}\nEvidence: {passage}\n\n### Response:\n"
)
"""Of the critic's form, not its wording: to run the released weights on the prompt that they were trained on,
give that prompt as the template."""


class SelfRagCritic:
    """The largest logit([Relevant]) - logit([Irrelevant]) over passages; nothing is decoded.

    `critic` is the released critic, whose vocabulary holds both tokens. Raises CapabilityError at
    construction where it does not.
    """

    name = "self-rag"

    def __init__(self, critic: Generator, template: str = TEMPLATE) -> None:
        if any(critic.count_tokens(token) != 1 for token in (RELEVANT, IRRELEVANT)):
            raise CapabilityError(
                f"{critic.capabilities.model} has no token {RELEVANT}: it is no Self-RAG critic; name the "
                "folder of its released weights with --model"
            )
        self._critic = critic
        places = ("question", "passage")
        self._template = PromptTemplate(critic.capabilities, template, places, completion=True)

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The maximum. Raises InputError where a prompt is longer than the context."""
        asked = self._template.quoted(question)
        margins = await asyncio.gather(*(self._margin(asked, passage) for passage in passages))
        return Scored(max(margins), note=self._template.note(passages))

    async def _margin(self, question: str, passage: Passage) -> float:
        prompt = self._template.prompt(question=question, passage=self._template.passage(passage))
        # Both follow the same prompt, so the difference of log-probabilities is that of logits.
        relevant, irrelevant = await self._critic.score(prompt, [RELEVANT, IRRELEVANT])
        margin = relevant[0] - irrelevant[0]
        if not math.isfinite(margin):
            raise ModelOutputError("the Self-RAG critic returned NaN or infinity; check its weights")
        return margin
