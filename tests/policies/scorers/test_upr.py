import pytest
from scripted import ScriptedGenerator
from sufficit.policies.scorers.upr import UPR
from sufficit.tools.errors import InputError
from sufficit.tools.types import Passage


async def test_the_best_passage_counts_by_its_mean_token_likelihood():
    def logprobs(prompt, text):
        assert text == "Who sings?"
        return (-1.0, -3.0) if "singer" in prompt.text else (-4.0, -4.0)

    scorer = UPR(ScriptedGenerator(logprobs=logprobs))
    scored = await scorer.score("Who sings?", [Passage("1", "A tree."), Passage("2", "A singer.")])
    assert scored.value == -2.0


async def test_a_question_without_a_token_is_refused():
    with pytest.raises(InputError, match="no token"):
        await UPR(ScriptedGenerator(logprobs=lambda prompt, text: ())).score("?", [Passage("1", "A tree.")])
