import pytest
from scripted import ScriptedGenerator
from sufficit.policies.scorers.ragas import ContextRelevance
from sufficit.tools.types import Passage

PASSAGES = [Passage("1", "Ada is mayor. It rains."), Passage("2", "Ben paints! Who knows?")]


@pytest.mark.parametrize(
    ("reply", "share"),
    [
        ("Ada is mayor.", 0.25),
        ("Ada is mayor. Ben paints! Ben paints!", 0.5),
        ("Insufficient information.", 0.0),
        ("Ada was never mayor.", 0.0),
        ("", 0.0),
    ],
)
async def test_the_share_of_sentences_copied(reply, share):
    scored = await ContextRelevance(ScriptedGenerator(answer=lambda prompt: reply)).score("Who?", PASSAGES)
    assert scored.value == share
