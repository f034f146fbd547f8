import math
from dataclasses import replace

import pytest
from pipelines import finding, writing
from staged import passages
from sufficit.controller.strategies.dtr import DTR, joint_relevance, jointly_relevant

ONE, TWO, THREE = (
    replace(passage, score=score)
    for passage, score in zip(passages("Rhine", "Alps", "Po"), (4.0, 3.0, 1.0), strict=True)
)
QUESTION = "Where does the Rhine rise?"


def drafting(logprob, context="It rises in the Alps."):
    def says(prompt):
        if "encyclopedia" in prompt.text:
            return context
        return "from passages" if "<context>" in prompt.text else ("draft", (logprob,))

    return writing(says)


async def test_a_certain_draft_stands():
    writer, answers = drafting(-0.01)
    search = finding({"Rhine": [ONE]})
    answer, read = await DTR(search, answers, uncertainty=0.01).answer(QUESTION)
    assert (answer.text, read, search.queries) == ("draft", (), [])
    assert len(writer.calls) == 1


async def test_an_uncertain_draft_retrieves_on_two_paths():
    _, answers = drafting(-0.011)
    search = finding({"Rhine": [ONE, TWO], "Alps": [TWO, THREE]})
    answer, read = await DTR(search, answers, passages=2, uncertainty=0.01).answer(QUESTION)
    assert search.queries == [QUESTION, "It rises in the Alps."]
    assert answer.text == "from passages"
    assert read == (TWO, ONE)


async def test_a_blank_memory_is_no_query():
    _, answers = drafting(-1.0, context="")
    search = finding({"Rhine": [ONE, TWO]})
    _, read = await DTR(search, answers).answer(QUESTION)
    assert (search.queries, read) == ([QUESTION], (ONE, TWO))


def test_joint_relevance_is_the_cosine_of_the_summed_angles():
    for first, second in ((0.3, 0.9), (1.0, 0.5), (0.0, 0.0)):
        expected = math.cos(math.acos(first) + math.acos(second))
        assert joint_relevance(first, second) == pytest.approx(expected)


def test_documents_near_to_both_come_first():
    # Shares: ONE 1 and 0, TWO 3/4 and 1, THREE 0 and 1/3.
    assert jointly_relevant([ONE, TWO], [TWO, THREE]) == [TWO, ONE, THREE]
    assert jointly_relevant([], [TWO, THREE]) == [TWO, THREE]
    assert jointly_relevant([], []) == []


def test_scores_that_are_no_relevance_give_way_to_ranks():
    unscored = [replace(passage, score=None) for passage in (ONE, TWO, THREE)]
    assert jointly_relevant(unscored, unscored) == unscored
