"""A generator that answers no prompt twice, for comparisons in which many methods ask the same things."""

from collections.abc import Sequence
from dataclasses import replace

from ...tools.protocols import Generator
from ...tools.types import Capabilities, Generation, Prompt, Rollout


class Remembered:
    """One question's memory over a generator. Make a new one for every question.

    Rollouts are made once, with the largest K and MT, and cut for smaller ones: greedy decoding makes the
    first steps the same however many follow.
    """

    def __init__(self, generator: Generator, max_tokens: int, top_k: int) -> None:
        self._generator = generator
        self._max_tokens = max_tokens
        self._top_k = top_k
        self._rollouts: dict[Prompt, Rollout] = {}
        self._answers: dict[tuple[Prompt, int], Generation] = {}

    @property
    def capabilities(self) -> Capabilities:
        """Those of the generator."""
        return self._generator.capabilities

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        """As `Generator.generate`, only for prompts not seen yet."""
        new = [p for p in dict.fromkeys(prompts) if (p, max_tokens) not in self._answers]
        if new:
            answers = await self._generator.generate(new, max_tokens)
            self._answers |= {(p, max_tokens): answer for p, answer in zip(new, answers, strict=True)}
        return [self._answers[prompt, max_tokens] for prompt in prompts]

    async def rollout(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        """As `Generator.rollout`, with K and MT no larger than those remembered.

        `generation` is that of the longest rollout.
        """
        new = [prompt for prompt in dict.fromkeys(prompts) if prompt not in self._rollouts]
        if new:
            rollouts = await self._generator.rollout(new, self._max_tokens, self._top_k)
            self._rollouts |= dict(zip(new, rollouts, strict=True))
        return [self._cut(self._rollouts[prompt], max_tokens, top_k) for prompt in prompts]

    def _cut(self, rollout: Rollout, max_tokens: int, top_k: int) -> Rollout:
        return replace(rollout, steps=tuple(step[:top_k] for step in rollout.steps[:max_tokens]))

    async def score(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[float, ...]]:
        """As `Generator.score`."""
        return await self._generator.score(prompt, continuations)

    def count_tokens(self, text: str) -> int:
        """As `Generator.count_tokens`."""
        return self._generator.count_tokens(text)
