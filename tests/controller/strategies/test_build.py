import pytest
from pipelines import finding, writing
from staged import passages
from sufficit.controller.strategies.build import PIPELINES, build_strategy
from sufficit.tools.errors import UsageError

QUESTION = "Where does the Rhine rise?"


@pytest.mark.parametrize("name", PIPELINES)
async def test_every_pipeline_answers_from_what_it_found(name):
    found = passages("The Rhine rises in the Alps.")
    _, answers = writing(lambda prompt: "the Alps", logprobs=lambda prompt, continuation: (-1.0, -1.0))
    answer, read = await build_strategy(name, finding({"Rhine": found}), answers, 3).answer(QUESTION)
    assert (answer.text, read) == ("the Alps", tuple(found))


def test_an_unknown_pipeline_names_the_known_ones():
    _, answers = writing(lambda prompt: "")
    with pytest.raises(UsageError, match="rag, ircot, flare, clehe, dtr"):
        build_strategy("crag", finding({}), answers, 3)
