import math

import pytest
from pipelines import finding, writing
from staged import passages
from sufficit.controller.strategies.clehe import CLeHe, entropy_weights
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.types import Generation, Rollout

CERTAIN, VAGUE, OTHER = passages("certain Alps", "vague Berlin", "vague Paris")
QUESTION = "Where?"
FLAT = ((math.log(0.5), math.log(0.5)),)
PEAKED = ((math.log(0.999), math.log(0.001)),)


def words(prompt):
    """What a prompt of one document proposes."""
    return next((word for word in ("Alps", "Berlin", "Paris") if word in prompt.text), "no idea")


def reading(logprobs):
    return writing(
        words, steps=lambda prompt: PEAKED if "certain" in prompt.text else FLAT, logprobs=logprobs
    )


def pipeline(answers, found, **settings):
    return CLeHe(finding({"Where": found}), answers, **settings)


def likes(prompt, continuation):
    """Every document finds its own word likely and the others' not; without documents all is alike."""
    return (-0.1,) if continuation.strip() in prompt.text else (-3.0,)


def rollout(*steps):
    return Rollout(Generation("x", (), (), "stop", 0), steps)


def test_weights_fall_with_entropy():
    even = (math.log(0.5), math.log(0.5))
    weights = entropy_weights([rollout(even), rollout((0.0,)), rollout(even, (0.0,))], temperature=1.0)
    raised = [math.exp(-math.log(2)), 1.0, math.exp(-math.log(2) / 2)]
    assert weights == pytest.approx([value / sum(raised) for value in raised])
    assert entropy_weights([rollout(even), rollout((0.0,))], temperature=1e-3)[1] == pytest.approx(1.0)


async def test_the_certain_document_decides():
    _, answers = reading(likes)
    answer, read = await pipeline(answers, [VAGUE, CERTAIN, OTHER]).answer(QUESTION)
    assert (answer.text, read) == ("Alps", (VAGUE, CERTAIN, OTHER))


async def test_many_vague_documents_decide_where_certainty_counts_little():
    both = passages("certain Alps", "vague Berlin", "vague Berlin", "vague Berlin")
    _, answers = reading(likes)
    answer, _ = await pipeline(answers, both, temperature=100.0).answer(QUESTION)
    assert answer.text == "Berlin"


async def test_what_memory_says_anyway_counts_less():
    def memory(prompt, continuation):
        # Documents find Berlin a little likelier; memory would say it with certainty.
        known = -0.001 if continuation.strip() == "Berlin" else -6.0
        return (known if "<context>" not in prompt.text else -1.0 if known > -1 else -1.2,)

    for beta, expected in ((0.0, "Berlin"), (0.25, "Alps")):
        _, answers = reading(memory)
        answer, _ = await pipeline(answers, [CERTAIN, VAGUE], beta=beta).answer(QUESTION)
        assert answer.text == expected


async def test_one_proposal_needs_no_scoring():
    writer, answers = reading(likes)
    answer, _ = await pipeline(answers, passages("vague Berlin", "the vague Berlin!")).answer(QUESTION)
    assert answer.text == "Berlin"
    assert writer.asked("score") == []


async def test_only_so_many_proposals_are_scored():
    scored = []

    def counting(prompt, continuation):
        scored.append(continuation)
        return likes(prompt, continuation)

    _, answers = reading(counting)
    await pipeline(answers, [VAGUE, CERTAIN, OTHER], proposals=2).answer(QUESTION)
    assert set(scored) == {" Alps", " Berlin"}


async def test_without_documents_it_is_the_closed_book_answer():
    _, answers = reading(likes)
    answer, read = await pipeline(answers, []).answer(QUESTION)
    assert (answer.text, read) == ("no idea", ())


async def test_a_broken_likelihood_is_an_error():
    _, answers = reading(lambda prompt, continuation: (math.nan,))
    with pytest.raises(ModelOutputError, match="no finite log-likelihood"):
        await pipeline(answers, [CERTAIN, VAGUE]).answer(QUESTION)
