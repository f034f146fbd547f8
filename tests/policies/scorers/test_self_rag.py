import pytest
from scripted import ScriptedGenerator
from sufficit.policies.scorers.self_rag import SelfRagCritic
from sufficit.tools.errors import CapabilityError, ModelOutputError
from sufficit.tools.types import Passage


def logprobs(prompt, text):
    return (-1.0 if (text == "[Relevant]") is ("singer" in prompt.text) else -4.0,)


async def test_the_best_margin_over_passages():
    scorer = SelfRagCritic(ScriptedGenerator(logprobs=logprobs))
    assert (await scorer.score("Who?", [Passage("1", "A tree."), Passage("2", "A singer.")])).value == 3.0
    assert (await scorer.score("Who?", [Passage("1", "A tree.")])).value == -3.0


async def test_nan_is_refused():
    scorer = SelfRagCritic(ScriptedGenerator(logprobs=lambda prompt, text: (float("nan"),)))
    with pytest.raises(ModelOutputError):
        await scorer.score("Who?", [Passage("1", "t")])


def test_a_model_without_the_tokens_is_no_critic():
    class Plain(ScriptedGenerator):
        def count_tokens(self, text):
            return len(text)

    with pytest.raises(CapabilityError, match="no token"):
        SelfRagCritic(Plain())
