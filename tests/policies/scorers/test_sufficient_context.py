import pytest
from scripted import ScriptedGenerator
from sufficit.policies.scorers.sufficient_context import SufficientContext
from sufficit.tools.types import Passage


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('It names her. {"sufficient": 1}', 1.0),
        ('```json\n{"Sufficient Context": 0}\n```', 0.0),
        ('{"sufficient": true}', 1.0),
        ('First {"sufficient": 1}, but no: {"sufficient": 0}', 0.0),
    ],
)
async def test_the_last_verdict_counts(reply, value):
    scored = await SufficientContext(ScriptedGenerator(answer=lambda prompt: reply)).score(
        "Who?", [Passage("1", "t")]
    )
    assert (scored.value, scored.note) == (value, "")


@pytest.mark.parametrize("reply", ["", "I cannot tell.", '{"sufficient": maybe}'])
async def test_no_verdict_is_zero_and_noted(reply):
    scored = await SufficientContext(ScriptedGenerator(answer=lambda prompt: reply)).score(
        "Who?", [Passage("1", "t")]
    )
    assert (scored.value, scored.note) == (0.0, "no verdict in the reply")


async def test_the_verdicts_braces_stand_in_the_prompt():
    generator = ScriptedGenerator()
    await SufficientContext(generator).score("Who?", [Passage("1", "t")])
    assert '{"sufficient": 1}' in generator.calls[0][1][0].text
