"""The two answers: the closed-book one, with NU(q), before any passage is there; the RAG one after."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ..policies.answering import PromptWriter
from ..policies.probing import RolloutProbe
from ..tools.protocols import Generator
from ..tools.types import Generation, Passage
from .stages import Written


def opening_price(answer_tokens: int, probe_tokens: int) -> dict[str, int]:
    """The most that opening can cost, by limit: one answer and one probe, a model call each."""
    return {"model_calls": 2, "generated_tokens": answer_tokens + probe_tokens}


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """Opens a run: answer and probe go to the generator together, which gathers them into one batch."""

    generator: Generator
    prompts: PromptWriter
    probe: RolloutProbe
    answer_tokens: int
    price: dict[str, int]

    async def open(self, question: str) -> tuple[Generation, float]:
        """The closed-book answer, and NU(q) in [0, 1]."""
        prompt = self.prompts.question_only(question)
        (direct,), baseline = await asyncio.gather(
            self.generator.generate([prompt], self.answer_tokens), self.probe.baseline(question)
        )
        return direct, baseline


@dataclass(frozen=True, slots=True)
class WithEvidence:
    """Writes the RAG answer."""

    generator: Generator
    prompts: PromptWriter
    answer_tokens: int

    async def write(self, question: str, passages: Sequence[Passage]) -> Written:
        """The answer from the passages that fit the prompt; where none does, the closed-book one."""
        read = self.prompts.fit(passages)
        prompt = self.prompts.question_context(question, read)
        (rag,) = await self.generator.generate([prompt], self.answer_tokens)
        return Written(rag, tuple(passage.key for passage in read))
