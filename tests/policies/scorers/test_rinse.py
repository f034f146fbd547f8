import pytest
from sufficit.policies.scorers.rinse import RinseScorer
from sufficit.policies.types import ReaderScore, SufficiencyReport
from sufficit.tools.errors import InputError
from sufficit.tools.types import Passage


class Fixed:
    async def score(self, question, passages):
        readers = (ReaderScore("content", 3.0, 1.0, 0.5), ReaderScore("any other", 0.0, 0.0, -0.25))
        return SufficiencyReport(0.25 if passages else None, 0.0, readers, (), len(passages))


async def test_whatever_readers_there_are_become_terms():
    scored = await RinseScorer(Fixed()).score("Who?", [Passage("1", "t")])
    assert scored.value == 0.25
    assert scored.terms == {"content": 0.5, "any other": -0.25}


async def test_no_passage_is_refused():
    with pytest.raises(InputError):
        await RinseScorer(Fixed()).score("Who?", [])
