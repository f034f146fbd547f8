"""The greedy answer to the full set, which answer-aware methods start from (RINSE Appendix A)."""

from collections.abc import Sequence
from typing import NamedTuple

from ...tools.errors import InputError
from ...tools.protocols import Generator
from ...tools.types import Generation, Passage, Prompt
from ..answering import AnswerPrompts, PromptWriter

ANSWER_TOKENS = 24


class Asked(NamedTuple):
    """A RAG prompt, and a note where it does not show all passages."""

    prompt: Prompt
    note: str


class Answerer:
    """Writes the short answer that a generator gives to the passages.

    Raises CapabilityError at construction, as PromptWriter does.
    """

    def __init__(
        self, generator: Generator, prompts: AnswerPrompts | None = None, tokens: int = ANSWER_TOKENS
    ) -> None:
        self._generator = generator
        self._writer = PromptWriter(generator, prompts or AnswerPrompts())
        self._tokens = tokens

    def ask(self, question: str, passages: Sequence[Passage]) -> Asked:
        """The prompt of one record. Raises InputError where none of the passages fits into it."""
        shown = self._writer.fit(passages)
        if not shown:
            raise InputError("no passage fits into the prompt; raise prompts.context_tokens")
        note = "not all passages fit into the prompt" if len(shown) < len(passages) else ""
        return Asked(self._writer.question_context(question, shown), note)

    async def answer(self, prompt: Prompt) -> Generation:
        """The greedy answer."""
        (generation,) = await self._generator.generate([prompt], self._tokens)
        return generation
