import math

from pipelines import finding, writing
from staged import passages
from sufficit.controller.strategies.flare import FLARE

(RHINE,) = passages("The Rhine rises in the Alps.")
QUESTION = "Where does the Rhine rise?"


def drafting(text, *probabilities):
    draft = text, tuple(map(math.log, probabilities))
    return writing(lambda prompt: "the Alps" if "<context>" in prompt.text else draft)


async def test_a_confident_draft_stands():
    _, answers = drafting("Lake Constance", 0.8, 0.95)
    search = finding({"Rhine": [RHINE]})
    answer, read = await FLARE(search, answers, confidence=0.799).answer(QUESTION)
    assert (answer.text, read, search.queries) == ("Lake Constance", (), [])


async def test_an_uncertain_draft_asks_with_its_certain_words():
    _, answers = drafting("near Lake Geneva", 0.9, 0.5, 0.1)
    search = finding({"Rhine": [RHINE]})
    answer, read = await FLARE(search, answers).answer(QUESTION)
    assert search.queries == [f"{QUESTION} near Lake"]
    assert (answer.text, read) == ("the Alps", (RHINE,))


async def test_an_empty_draft_asks_with_the_question_alone():
    _, answers = drafting("")
    search = finding({"Rhine": [RHINE]})
    await FLARE(search, answers).answer(QUESTION)
    assert search.queries == [QUESTION]


async def test_tokens_that_cannot_be_laid_over_words_give_none_of_them():
    _, answers = drafting("near Lake", 0.9, 0.9, 0.1)
    search = finding({"Rhine": [RHINE]})
    await FLARE(search, answers).answer(QUESTION)
    assert search.queries == [QUESTION]
