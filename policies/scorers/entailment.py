"""Does one text entail another? A classifier says it, or a generator that is asked."""

import asyncio
import math
from collections.abc import Sequence
from typing import Protocol

from ...tools.protocols import Generator
from .prompting import CHARACTERS, PromptTemplate, log_odds, spellings

TEMPLATE = (
    "Premise: {premise}\nHypothesis: {hypothesis}\n"
    "Does the premise show that the hypothesis is true? Say yes or no.\nAnswer:"
)


class Entailment(Protocol):
    """Scores pairs of premise and hypothesis."""

    async def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
        """The probability, in [0, 1], that each premise entails its hypothesis."""
        ...


class GeneratorEntailment:
    """A generator's own word for it, where no entailment classifier is at hand: p(yes) against p(no)."""

    def __init__(self, generator: Generator, template: str = TEMPLATE) -> None:
        self._generator = generator
        self._template = PromptTemplate(generator.capabilities, template, ("premise", "hypothesis"))

    async def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
        """The probabilities. Raises InputError where a prompt is longer than the context."""
        pairs = zip(premises, hypotheses, strict=True)
        return list(await asyncio.gather(*(self._entails(*pair) for pair in pairs)))

    async def _entails(self, premise: str, hypothesis: str) -> float:
        quoted = self._template.quoted
        prompt = self._template.prompt(premise=quoted(premise[:CHARACTERS]), hypothesis=quoted(hypothesis))
        odds = await log_odds(self._generator, prompt, spellings("yes"), spellings("no"))
        # Written so that neither sign of the odds overflows.
        return 1 / (1 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1 + math.exp(odds))
