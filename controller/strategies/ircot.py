"""IRCoT: a chain of thought whose every sentence is the next query (Trivedi et al., 2023, Interleaving
Retrieval with Chain-of-Thought Reasoning for Knowledge-Intensive Multi-Step Questions)

As in the paper: the question finds the first passages; the model, shown all passages so far, writes one
sentence; that sentence finds more; it ends when a sentence gives the answer, or after `steps` sentences; then
a reader answers from all that was collected.

Simpler than the paper: one worked example without passages of its own in place of many with theirs, and the
reader answers at once, in TrustMargin's short-answer prompt. A sentence that says nothing new ends the chain.
"""

import re
from dataclasses import dataclass

from ...tools.normalisation import is_blank, normalise_answer
from ...tools.protocols import Retriever
from ...tools.types import Passage
from ..pool import Pool
from .reasoning import ReasoningPrompts
from .short_answers import ShortAnswers
from .strategy import Answered

_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_CONCLUSION = "answer is"


@dataclass(frozen=True, slots=True)
class IRCoT:
    """At most `steps` sentences of at most `step_tokens` tokens, each finding `per_step` passages.

    The reader sees at most `passages` of them, in the order in which they were found.
    """

    retriever: Retriever
    answers: ShortAnswers
    passages: int = 20
    per_step: int = 4
    steps: int = 4
    step_tokens: int = 48

    async def answer(self, question: str) -> Answered:
        """See Strategy."""
        return await self.answers.from_passages(question, await self._collect(question))

    async def _collect(self, question: str) -> tuple[Passage, ...]:
        prompts, pool, thoughts = ReasoningPrompts(self.answers), Pool(self.passages), list[str]()
        pool.add(await self._found(question))
        for _ in range(self.steps):
            prompt = prompts.next_step(question, pool.passages, thoughts)
            (written,) = await self.answers.generator.generate([prompt], self.step_tokens)
            thought = first_sentence(written.text)
            if _CONCLUSION in thought.lower() or is_blank(thought) or _repeats(thought, thoughts):
                break
            thoughts.append(thought)
            pool.add(await self._found(thought))
        return pool.passages

    async def _found(self, query: str) -> list[Passage]:
        return await self.retriever.search(query, min(self.per_step, self.passages))


def first_sentence(text: str) -> str:
    """The first sentence of a text; all of it where none ends."""
    return _SENTENCE_END.split(text.strip(), maxsplit=1)[0]


def _repeats(thought: str, thoughts: list[str]) -> bool:
    return normalise_answer(thought) in {normalise_answer(earlier) for earlier in thoughts}
