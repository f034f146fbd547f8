"""Models whose calls are spans. Runs share them, so they lie below what meters a run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from opentelemetry.trace import Span

from ...tools.protocols import JointReader, Reranker, SpanReader
from ...tools.types import Generation, Prompt, Rollout
from ..wrapping import AroundEncoder, AroundGenerator, AroundReader
from .spans import MODEL, OPERATION, PROVIDER, Spans, Value

MAX_TOKENS = "gen_ai.request.max_tokens"
INPUT_TOKENS, OUTPUT_TOKENS = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"


@dataclass(frozen=True, slots=True)
class TracedGenerator(AroundGenerator):
    """A generator whose calls are spans of the operation `chat` or `text_completion`.

    One span a call, whatever the number of prompts: `sufficit.prompts`. What the call is for stands in
    `sufficit.call`: `generate`, `rollout` (IGP) or `score` (TrustMargin), which generates nothing.
    """

    spans: Spans
    provider: str

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        """As `Generator.generate`."""
        asked = self._asked("generate", prompts, max_tokens)
        with self.spans.span(self._name(prompts), asked) as span:
            generations = await self.generator.generate(prompts, max_tokens)
            self._answered(span, generations)
            return generations

    async def rollout(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        """As `Generator.rollout`."""
        asked = {**self._asked("rollout", prompts, max_tokens), "sufficit.top_logprobs": top_k}
        with self.spans.span(self._name(prompts), asked) as span:
            rollouts = await self.generator.rollout(prompts, max_tokens, top_k)
            self._answered(span, [rollout.generation for rollout in rollouts])
            return rollouts

    async def score(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[float, ...]]:
        """As `Generator.score`; its input tokens are those of the prompt's text and of the continuations."""
        with self.spans.span(self._name([prompt]), self._asked("score", [prompt], 0)) as span:
            scores = await self.generator.score(prompt, continuations)
            read = self.generator.count_tokens(prompt.text) + sum(map(len, scores))
            span.set_attributes({INPUT_TOKENS: read, OUTPUT_TOKENS: 0})
            return scores

    def _name(self, prompts: Sequence[Prompt]) -> str:
        return f"{_operation(prompts)} {self.capabilities.model}"

    def _asked(self, call: str, prompts: Sequence[Prompt], max_tokens: int) -> dict[str, Value]:
        asked: dict[str, Value] = {
            OPERATION: _operation(prompts),
            PROVIDER: self.provider,
            MODEL: self.capabilities.model,
            MAX_TOKENS: max_tokens,
            "gen_ai.request.temperature": 0.0,
            "sufficit.call": call,
            "sufficit.prompts": len(prompts),
        }
        if self.spans.content:
            asked["gen_ai.input.messages"] = _messages("user", [prompt.text for prompt in prompts])
        return asked

    def _answered(self, span: Span, generations: Sequence[Generation]) -> None:
        span.set_attributes(
            {
                INPUT_TOKENS: sum(g.prompt_tokens for g in generations),
                OUTPUT_TOKENS: sum(len(g.token_ids) for g in generations),
                "gen_ai.response.model": self.capabilities.model,
                "gen_ai.response.finish_reasons": [g.finish for g in generations],
            }
        )
        if self.spans.content:
            texts = [generation.text for generation in generations]
            span.set_attribute("gen_ai.output.messages", _messages("assistant", texts))


def _operation(prompts: Sequence[Prompt]) -> str:
    return "chat" if any(prompt.style == "chat" for prompt in prompts) else "text_completion"


def _messages(role: str, texts: Sequence[str]) -> str:
    """Texts in the conventions' JSON form of messages."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for text in texts])


@dataclass(frozen=True, slots=True)
class TracedReranker(AroundReader[Reranker]):
    """A reranker whose calls are spans of the operation `embeddings`."""

    spans: Spans
    model: str

    async def score(self, queries: Sequence[str], texts: Sequence[str]) -> NDArray[np.float32]:
        """As `Reranker.score`."""
        asked = {**_read("embeddings", self.model), "sufficit.inputs": len(queries) + len(texts)}
        with self.spans.span(f"embeddings {self.model}", asked):
            return await self.reader.score(queries, texts)


@dataclass(frozen=True, slots=True)
class TracedEncoder(AroundEncoder):
    """An encoder whose calls are spans of the operation `embeddings`."""

    spans: Spans

    async def states(self, prompts: Sequence[Prompt], layers: Sequence[int]) -> NDArray[np.float32]:
        """As `Encoder.states`."""
        model = self.capabilities.model
        asked = {**_read("embeddings", model), "sufficit.inputs": len(prompts)}
        with self.spans.span(f"embeddings {model}", asked):
            return await self.encoder.states(prompts, layers)


@dataclass(frozen=True, slots=True)
class TracedSpanReader(AroundReader[SpanReader]):
    """A span reader whose calls are spans; the conventions have no operation for them."""

    spans: Spans
    model: str

    async def margins(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `SpanReader.margins`."""
        asked = {**_read("read_spans", self.model), "sufficit.inputs": len(texts)}
        with self.spans.span(f"read_spans {self.model}", asked):
            return await self.reader.margins(question, texts)


@dataclass(frozen=True, slots=True)
class TracedJointReader(AroundReader[JointReader]):
    """A joint reader whose calls are spans; the conventions have no operation for them."""

    spans: Spans
    model: str

    async def sufficiency(self, question: str, texts: Sequence[str]) -> float:
        """As `JointReader.sufficiency`."""
        asked = {**_read("read_jointly", self.model), "sufficit.inputs": len(texts)}
        with self.spans.span(f"read_jointly {self.model}", asked):
            return await self.reader.sufficiency(question, texts)


def _read(operation: str, model: str) -> dict[str, Value]:
    return {OPERATION: operation, PROVIDER: "sufficit", MODEL: model}
