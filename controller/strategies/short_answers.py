"""The two ways to a short answer that all pipelines share, so that only their use of evidence differs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from ...policies.answering import AnswerPrompts, PromptWriter
from ...tools.protocols import Generator
from ...tools.types import Generation, Passage
from .strategy import Answered


@dataclass(frozen=True, slots=True)
class ShortAnswers:
    """Writes answers of at most `tokens` tokens by the prompts of TrustMargin, Appendix D."""

    generator: Generator
    prompts: AnswerPrompts
    writer: PromptWriter
    tokens: int

    @classmethod
    def by(cls, generator: Generator, prompts: AnswerPrompts, tokens: int) -> Self:
        """Over a generator. Raises CapabilityError as PromptWriter does."""
        return cls(generator, prompts, PromptWriter(generator, prompts), tokens)

    async def closed_book(self, question: str) -> Generation:
        """The answer from the question alone."""
        (answer,) = await self.generator.generate([self.writer.question_only(question)], self.tokens)
        return answer

    async def from_passages(self, question: str, passages: Sequence[Passage]) -> Answered:
        """The answer from the passages that fit into the prompt, and those; closed-book where none does."""
        read = self.writer.fit(passages)
        prompt = self.writer.question_context(question, read)
        (answer,) = await self.generator.generate([prompt], self.tokens)
        return answer, read
