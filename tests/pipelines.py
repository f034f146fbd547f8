"""Pipelines over a scripted generator and fixed searches."""

from collections.abc import Callable

from scripted import ScriptedGenerator
from staged import FixedSearch
from sufficit.controller.strategies.short_answers import ShortAnswers
from sufficit.policies.answering import AnswerPrompts
from sufficit.tools.types import Generation, Passage, Prompt, Rollout


class Writer(ScriptedGenerator):
    """Says what `says(prompt)` gives: a text, or a text with the log-probability of every word."""

    async def generate(self, prompts, max_tokens):
        self.calls.append(("generate", tuple(prompts)))
        return [written(self.answer(prompt)) for prompt in prompts]

    async def rollout(self, prompts, max_tokens, top_k):
        self.calls.append(("rollout", tuple(prompts)))
        return [Rollout(written(self.answer(prompt)), self.steps(prompt)) for prompt in prompts]

    def asked(self, method: str = "generate") -> list[str]:
        return [prompt.text for name, prompts in self.calls if name == method for prompt in prompts]


def written(said: str | tuple[str, tuple[float, ...]]) -> Generation:
    text, logprobs = (said, (-1.0,) * len(said.split())) if isinstance(said, str) else said
    return Generation(text, tuple(range(len(logprobs))), logprobs, "stop", 0)


def writing(says: Callable[[Prompt], object], **parts: object) -> tuple[Writer, ShortAnswers]:
    writer = Writer(answer=says, **parts)
    return writer, ShortAnswers.by(writer, AnswerPrompts(), 8)


def finding(found: dict[str, list[Passage]]) -> FixedSearch:
    """Finds what stands under a word of the query, in the order of the words of `found`."""
    return FixedSearch(lambda query: [p for word, some in found.items() if word in query for p in some])
