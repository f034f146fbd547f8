"""Probing: NU(q) and NU(q|d) of a generator, by greedy rollouts (IGP, sections 3.2 and 3.5)."""

from collections.abc import Sequence

from ..tools.errors import CapabilityError
from ..tools.protocols import Generator
from ..tools.types import Passage, Prompt
from .answering import examples_block
from .igp import IGPSettings, mean_uncertainty, step_uncertainties
from .quoting import fill, passage_line, quote
from .types import Candidate


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
        around = self._TEMPLATE_TOKENS + generator.count_tokens(settings.prompts.system)
        self._room = capabilities.context_tokens - settings.max_tokens - around

    async def baseline(self, question: str) -> float:
        """NU(q), from one rollout; it needs no passages, so it can be had before any are there."""
        return mean_uncertainty((await self._measure([self._prompt(question, ())]))[0])

    async def uncertainties(
        self, question: str, passages: Sequence[Passage], given: Sequence[Passage] = ()
    ) -> tuple[Candidate, ...]:
        """NU(q|d) of every passage, each after `given`, from one call.

        None where the prompt is longer than the context. Under a common horizon the rollout without the
        passage is part of the call, and each comparison is over the shorter of the two rollouts.
        """
        prompts = [self._prompt(question, (*given, passage)) for passage in passages]
        fits = [self._generator.count_tokens(prompt.text) <= self._room for prompt in prompts]
        asked = [prompt for prompt, fit in zip(prompts, fits, strict=True) if fit]
        horizon = self._settings.common_horizon and bool(asked)
        measured = await self._measure([self._prompt(question, given)] * horizon + asked)
        without = measured[0] if horizon else None
        found = iter(measured[horizon:])
        return tuple(
            self._candidate(passage, next(found) if fit else None, without)
            for passage, fit in zip(passages, fits, strict=True)
        )

    def tokens(self, passage: Passage) -> int:
        """Tokens of the passage's line in the prompt."""
        return self._generator.count_tokens(self._line(passage, 1))

    def _candidate(
        self, passage: Passage, steps: tuple[float, ...] | None, without: tuple[float, ...] | None
    ) -> Candidate:
        tokens = self.tokens(passage)
        if steps is None:
            return Candidate(passage.key, None, tokens)
        if without is None:
            return Candidate(passage.key, mean_uncertainty(steps), tokens)
        shared = min(len(steps), len(without))
        return Candidate(
            passage.key, mean_uncertainty(steps, shared), tokens, mean_uncertainty(without, shared)
        )

    async def _measure(self, prompts: Sequence[Prompt]) -> list[tuple[float, ...]]:
        """u~_t of every prompt's rollout."""
        if not prompts:
            return []
        settings = self._settings
        rollouts = await self._generator.rollout(prompts, settings.max_tokens, settings.top_k)
        return [step_uncertainties(rollout.steps, settings.top_k) for rollout in rollouts]

    def _prompt(self, question: str, passages: Sequence[Passage]) -> Prompt:
        prompts = self._settings.prompts
        places = {
            "question": quote(question, self._generator.capabilities.control_tokens),
            "examples": self._examples,
        }
        if passages:
            places["context"] = "\n".join(
                self._line(passage, number) for number, passage in enumerate(passages, start=1)
            )
        text = fill(prompts.with_passage if passages else prompts.without_passage, **places)
        return Prompt(text, prompts.style, prompts.system, prompts.stop)

    def _line(self, passage: Passage, number: int) -> str:
        return passage_line(passage, number, self._generator.capabilities.control_tokens)
