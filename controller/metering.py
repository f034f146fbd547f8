"""Models that charge the ledger of the run that uses them.

Policies are built anew for every run, over these; the models below are shared by all runs.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..tools.protocols import JointReader, Reranker, SpanReader
from ..tools.types import Generation, Prompt, Rollout
from .budget import PROMPT_TOKENS, READER_CALLS, Ledger
from .wrapping import AroundEncoder, AroundGenerator, AroundReader


@dataclass(frozen=True, slots=True)
class MeteredGenerator(AroundGenerator):
    """A generator whose calls and tokens are counted, on failure as on success.

    The tokens of prompts are counted of calls that came back: each prompt in full, whatever an engine shares
    between prompts or remembers of them.
    """

    ledger: Ledger

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        """As `Generator.generate`; raises BudgetExhausted before the call that would go over."""
        reserved = self._reserve(len(prompts) * max_tokens)
        generations = await self.generator.generate(prompts, max_tokens)
        self._came(generations, reserved)
        return generations

    async def rollout(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        """As `Generator.rollout`; raises BudgetExhausted before the call that would go over."""
        reserved = self._reserve(len(prompts) * max_tokens)
        rollouts = await self.generator.rollout(prompts, max_tokens, top_k)
        self._came([rollout.generation for rollout in rollouts], reserved)
        return rollouts

    async def score(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[float, ...]]:
        """As `Generator.score`: one model call, no generated tokens.

        It reads the prompt's text, counted once, and the continuations.
        """
        self._reserve(0)
        scores = await self.generator.score(prompt, continuations)
        # A tokenizer may be behind HTTP.
        text = await asyncio.to_thread(self.generator.count_tokens, prompt.text)
        self.ledger.count(PROMPT_TOKENS, text + sum(map(len, scores)))
        return scores

    def _came(self, generations: Sequence[Generation], reserved: int) -> None:
        self.ledger.spend("generated_tokens", sum(len(g.token_ids) for g in generations) - reserved)
        self.ledger.count(PROMPT_TOKENS, sum(generation.prompt_tokens for generation in generations))

    def _reserve(self, tokens: int) -> int:
        self.ledger.spend("generated_tokens", tokens)
        try:
            self.ledger.spend("model_calls")
        except Exception:
            self.ledger.spend("generated_tokens", -tokens)
            raise
        return tokens


@dataclass(frozen=True, slots=True)
class MeteredEncoder(AroundEncoder):
    """An encoder whose calls and the tokens of whose prompts' texts are counted."""

    ledger: Ledger

    async def states(self, prompts: Sequence[Prompt], layers: Sequence[int]) -> NDArray[np.float32]:
        """As `Encoder.states`; raises BudgetExhausted before the call that would go over."""
        self.ledger.spend("model_calls")
        states = await self.encoder.states(prompts, layers)
        self.ledger.count(PROMPT_TOKENS, sum(self.encoder.count_tokens(prompt.text) for prompt in prompts))
        return states


@dataclass(frozen=True, slots=True)
class MeteredReranker(AroundReader[Reranker]):
    """A reranker whose calls are counted; nothing limits them."""

    ledger: Ledger

    async def score(self, queries: Sequence[str], texts: Sequence[str]) -> NDArray[np.float32]:
        """As `Reranker.score`."""
        self.ledger.count(READER_CALLS)
        return await self.reader.score(queries, texts)


@dataclass(frozen=True, slots=True)
class MeteredSpanReader(AroundReader[SpanReader]):
    """A span reader whose calls are counted; nothing limits them."""

    ledger: Ledger

    async def margins(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `SpanReader.margins`."""
        self.ledger.count(READER_CALLS)
        return await self.reader.margins(question, texts)


@dataclass(frozen=True, slots=True)
class MeteredJointReader(AroundReader[JointReader]):
    """A joint reader whose calls are counted; nothing limits them."""

    ledger: Ledger

    async def sufficiency(self, question: str, texts: Sequence[str]) -> float:
        """As `JointReader.sufficiency`."""
        self.ledger.count(READER_CALLS)
        return await self.reader.sufficiency(question, texts)
