"""Probing: NU(q) and NU(q|d) of a generator, by greedy rollouts (IGP, sections 3.2 and 3.5)."""

from collections.abc import Sequence

from ..tools.errors import CapabilityError
from ..tools.protocols import Generator
from ..tools.types import Passage, Prompt
from .answering import examples_block
from .igp import Candidate, IGPSettings, normalised_uncertainty
from .quoting import fill, passage_line, quote


class RolloutProbe:
    """Probes a generator by greedy rollouts, all passages in one call.

    Raises CapabilityError at construction if K is above what the generator shows, or if the prompts want a
    chat template that it lacks.
    """

    # What a chat template may add around the user turn.
    _TEMPLATE_TOKENS = 64

    def __init__(self, generator: Generator, settings: IGPSettings) -> None:
        capabilities = generator.capabilities
        if settings.top_k > capabilities.max_top_k:
            raise CapabilityError(
                f"igp.top_k = {settings.top_k} is above the {capabilities.max_top_k} log-probabilities "
                f"a step that {capabilities.model} shows; lower it"
            )
        if settings.prompts.style == "chat" and not capabilities.has_chat_template:
            raise CapabilityError(
                f"{capabilities.model} has no chat template; set igp.prompts.profile = worked_examples"
            )
        self._generator = generator
        self._settings = settings
        self._examples = examples_block(settings.prompts.examples)
        self._room = capabilities.context_tokens - settings.max_tokens - self._TEMPLATE_TOKENS

    async def baseline(self, question: str) -> float:
        """NU(q), from one rollout; it needs no passages, so it can be had before any are there."""
        return (await self._measure([self._prompt(question, None)]))[0]

    async def uncertainties(self, question: str, passages: Sequence[Passage]) -> tuple[Candidate, ...]:
        """NU(q|d) of every passage, from one call; None where the prompt is longer than the context."""
        prompts = [self._prompt(question, passage) for passage in passages]
        fits = [self._generator.count_tokens(prompt.text) <= self._room for prompt in prompts]
        measured = iter(await self._measure([p for p, fit in zip(prompts, fits, strict=True) if fit]))
        return tuple(
            Candidate(passage.key, next(measured) if fit else None, self._tokens(passage))
            for passage, fit in zip(passages, fits, strict=True)
        )

    async def _measure(self, prompts: Sequence[Prompt]) -> list[float]:
        if not prompts:
            return []
        settings = self._settings
        rollouts = await self._generator.rollout(prompts, settings.max_tokens, settings.top_k)
        return [normalised_uncertainty(rollout.steps, settings.top_k) for rollout in rollouts]

    def _prompt(self, question: str, passage: Passage | None) -> Prompt:
        prompts = self._settings.prompts
        asked = quote(question, self._generator.capabilities.control_tokens)
        if passage is None:
            text = fill(prompts.without_passage, question=asked, examples=self._examples)
        else:
            text = fill(
                prompts.with_passage, question=asked, context=self._line(passage), examples=self._examples
            )
        return Prompt(text, prompts.style, prompts.system, prompts.stop)

    def _line(self, passage: Passage) -> str:
        return passage_line(passage, 1, self._generator.capabilities.control_tokens)

    def _tokens(self, passage: Passage) -> int:
        return self._generator.count_tokens(self._line(passage))
