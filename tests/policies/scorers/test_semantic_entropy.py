import math
from dataclasses import dataclass

import pytest
from scripted import ScriptedGenerator, generation
from sufficit.policies.scorers.semantic_entropy import SemanticEntropy
from sufficit.tools.types import Passage


@dataclass
class Sampling(ScriptedGenerator):
    drawn: tuple[str, ...] = ()

    async def sample(self, prompts, max_tokens, temperature, seed):
        assert (len(prompts), temperature) == (5, 1.0)
        return [generation(text) for text in self.drawn]


class Directed:
    """Every pair listed entails; nothing else does."""

    def __init__(self, *pairs):
        self.pairs = pairs

    async def entails(self, premises, hypotheses):
        return [
            0.9 if any(p.endswith(a) and h.endswith(b) for a, b in self.pairs) else 0.1
            for p, h in zip(premises, hypotheses, strict=True)
        ]


async def score(drawn, *pairs):
    generator = Sampling(answer=lambda prompt: "Paris", drawn=drawn)
    return (await SemanticEntropy(generator, Directed(*pairs)).score("Where?", [Passage("1", "t")])).value


async def test_one_meaning_has_no_entropy():
    assert await score(("Paris", "paris.", "the Paris", "Paris", "Paris")) == 0.0


async def test_entailment_must_go_both_ways():
    drawn = ("Paris", "Paris", "the capital", "the capital", "the capital")
    halves = 2 * 0.5 * math.log(0.5)
    assert await score(drawn) == pytest.approx(halves)
    assert await score(drawn, ("Paris", "the capital")) == pytest.approx(halves)
    assert await score(drawn, ("Paris", "the capital"), ("the capital", "Paris")) == 0.0


async def test_six_meanings_have_the_most():
    assert await score(("Rome", "Oslo", "Bern", "Riga", "Kyiv")) == pytest.approx(-math.log(6))
