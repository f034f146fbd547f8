import pytest
from scripted import ScriptedGenerator
from sufficit.policies.scorers.p_true import PTrue
from sufficit.tools.types import Passage


async def test_the_model_is_asked_about_its_own_answer():
    def logprobs(prompt, text):
        assert "Proposed answer: Ada Voss" in prompt.text
        return (-1.0 if text.strip().lower() == "true" else -3.0,)

    scorer = PTrue(ScriptedGenerator(answer=lambda prompt: "Ada Voss", logprobs=logprobs))
    assert (await scorer.score("Who?", [Passage("1", "Ada Voss.")])).value == pytest.approx(2.0)
