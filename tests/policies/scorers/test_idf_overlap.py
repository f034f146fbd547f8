from sufficit.policies.rinse.idf import PieceCounts
from sufficit.policies.scorers.idf_overlap import IdfOverlap
from sufficit.tools.types import Passage


class Words:
    def pieces(self, text):
        return "".join(c if c.isalnum() else " " for c in text.lower()).split()

    def join(self, pieces):
        return " ".join(pieces)


COUNTS = PieceCounts(100, {"who": 90, "is": 95, "mayor": 10, "arden": 2})


async def score(question, *texts):
    passages = [Passage(str(n), text) for n, text in enumerate(texts)]
    return (await IdfOverlap(Words(), COUNTS).score(question, passages)).value


async def test_rare_words_weigh_more():
    asked = "who is mayor arden"
    assert await score(asked, "who is mayor arden") == 1.0
    assert await score(asked, "nothing of it") == 0.0
    assert 0 < await score(asked, "who is") < await score(asked, "arden") < 1


async def test_one_source_must_hold_a_window():
    asked = "who is mayor arden"
    assert await score(asked, "mayor", "arden") < await score(asked, "mayor arden")


async def test_a_question_of_one_token_or_none():
    assert await score("arden", "arden") == 1.0
    assert await score("?", "arden") == 0.0
