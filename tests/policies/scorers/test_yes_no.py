import math

import pytest
from scripted import ScriptedGenerator
from sufficit.policies.scorers.yes_no import YesNo
from sufficit.tools.types import Passage


def odds(prompt, text):
    good = "Arden" in prompt.text
    return (math.log(0.6 if (text.strip().lower() == "yes") is good else 0.1) - math.log(6),)


async def test_the_score_is_log_p_yes_less_log_p_no():
    scorer = YesNo(ScriptedGenerator(logprobs=odds))
    high = await scorer.score("Who?", [Passage("1", "Arden has a mayor.")])
    low = await scorer.score("Who?", [Passage("1", "Belmar has a mayor.")])
    assert high.value == pytest.approx(math.log(6))
    assert low.value == pytest.approx(-math.log(6))


async def test_every_passage_is_shown_in_its_order():
    generator = ScriptedGenerator()
    await YesNo(generator).score("Who is it?", [Passage("1", "First."), Passage("2", "Second.")])
    text = generator.calls[0][1][0].text
    assert text.index("Who is it?") < text.index("[1] First.") < text.index("[2] Second.")
