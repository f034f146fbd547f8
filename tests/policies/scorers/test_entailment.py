import pytest
from scripted import ScriptedGenerator
from sufficit.policies.scorers.entailment import GeneratorEntailment


@pytest.mark.parametrize(("margin", "probability"), [(0.0, 0.5), (800.0, 1.0), (-800.0, 0.0)])
async def test_odds_become_probabilities_without_overflow(margin, probability):
    def logprobs(prompt, text):
        return (margin if text.strip().lower() == "yes" else 0.0,)

    entails = GeneratorEntailment(ScriptedGenerator(logprobs=logprobs)).entails
    assert await entails(["p", "p"], ["h", "h"]) == pytest.approx([probability] * 2)
    assert await entails([], []) == []
