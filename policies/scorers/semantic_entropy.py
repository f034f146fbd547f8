"""Semantic entropy: do sampled answers mean the same? (Kuhn et al., 2023, Semantic Uncertainty; Farquhar et
al., 2024, Detecting Hallucinations in Large Language Models Using Semantic Entropy)
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from ...tools.normalisation import normalise_answer
from ...tools.protocols import Generator, Sampler
from ...tools.types import Passage
from ..answering import AnswerPrompts
from .answers import ANSWER_TOKENS, Answerer
from .entailment import Entailment
from .types import Scored

SAMPLES = 5
_SAME = 0.5


class SamplingGenerator(Generator, Sampler, Protocol):
    """A generator that can also draw answers."""


class SemanticEntropy:
    """Minus the entropy, in nats, of the meanings of the greedy answer and five samples at temperature 1.

    Two answers mean the same where each entails the other with a probability above one half.
    """

    name = "semantic-entropy"

    def __init__(
        self,
        generator: SamplingGenerator,
        entailment: Entailment,
        prompts: AnswerPrompts | None = None,
        seed: int = 17,
    ) -> None:
        self._generator = generator
        self._answerer = Answerer(generator, prompts)
        self._entailment = entailment
        self._seed = seed

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """In [-log 6, 0]; 0 where all answers mean the same."""
        asked = self._answerer.ask(question, passages)
        greedy = await self._answerer.answer(asked.prompt)
        prompts = [asked.prompt] * SAMPLES
        drawn = await self._generator.sample(prompts, ANSWER_TOKENS, temperature=1.0, seed=self._seed)
        clusters = await self._cluster(question, [greedy.text, *(answer.text for answer in drawn)])
        shares = [size / len(clusters) for size in Counter(clusters).values()]
        return Scored(sum(share * math.log(share) for share in shares), note=asked.note)

    async def _cluster(self, question: str, answers: Sequence[str]) -> list[int]:
        """The cluster of every answer: that of the first earlier answer with the same meaning."""
        leaders: list[str] = []
        clusters = []
        for answer in answers:
            place = await self._leader(question, answer, leaders)
            if place == len(leaders):
                leaders.append(answer)
            clusters.append(place)
        return clusters

    async def _leader(self, question: str, answer: str, leaders: Sequence[str]) -> int:
        for place, leader in enumerate(leaders):
            if await self._same(question, answer, leader):
                return place
        return len(leaders)

    async def _same(self, question: str, answer: str, other: str) -> bool:
        if normalise_answer(answer) == normalise_answer(other):
            return True
        first, second = (f"{question} {text}" for text in (answer, other))
        forth, back = await self._entailment.entails([first, second], [second, first])
        return forth > _SAME and back > _SAME
