import numpy as np
import pytest
from evaluations import configuration
from scripted import ScriptedGenerator
from staged import FixedSearch, passages
from sufficit.controller.evaluation.datasets.questions import Question
from sufficit.controller.evaluation.runs.agents import ControllerAgent, UntimedAgent
from sufficit.controller.evaluation.runs.loader import Loader, SharingLoader, local_engine
from sufficit.controller.loading import Readers, Tools
from sufficit.policies.rinse.artifact import EMBEDDED, load_artifact

QUESTION = Question("q", "Where does the Rhine rise?", ("the Alps",), {})
GATE = ("rinse.method=similarity", "rinse.threshold=0.5")


class Agreeing:
    """A reranker to which every passage is the same as the question."""

    fingerprint = "agreeing"

    async def score(self, queries, texts):
        return np.ones((len(queries), len(texts)), np.float32)


@pytest.fixture
def calls(monkeypatch):
    """The calls of the one generator that all configurations get, whatever they name."""
    generator = ScriptedGenerator(answer=lambda prompt: "the Alps" if "Alps" in prompt.text else "Berlin")
    tools = Tools(
        FixedSearch(lambda query: passages("The Rhine rises in the Alps.")),
        generator,
        Readers(load_artifact(EMBEDDED), wordpieces=None, reranker=Agreeing(), encoder=None),
    )
    monkeypatch.setattr("sufficit.controller.evaluation.runs.loader.load_tools", lambda *_: tools)
    return generator.calls


async def asked(load, *assignments):
    return (await load(configuration("full", *GATE, *assignments)).ask(QUESTION)).row


async def test_each_configuration_makes_its_own_calls(calls):
    load = Loader()
    first = await asked(load)
    made = len(calls)
    assert (first.action, first.answer) == ("answer", "the Alps")
    await asked(load)
    assert len(calls) == 2 * made > 0


async def test_shared_calls_are_made_once_and_counted_for_each(calls):
    load = SharingLoader()
    first = await asked(load)
    made = len(calls)
    second = await asked(load, "trustmargin.tau=-20")
    assert len(calls) == made > 0
    assert (second.spent, second.stages, second.answer) == (first.spent, first.stages, first.answer)
    assert first.spent["model_calls"] >= made
    assert first.timings == second.timings == {}


async def test_another_length_of_answers_shares_what_has_no_answer_in_it(calls):
    load = SharingLoader()
    await asked(load)
    before = [method for method, _ in calls]
    await asked(load, "generator.answer_tokens=7")
    assert [method for method, _ in calls[len(before) :]] == ["generate"] * before.count("generate")


async def test_another_generator_shares_nothing(calls):
    load = SharingLoader()
    await asked(load)
    made = len(calls)
    await asked(load, "generator.model=another")
    assert len(calls) == 2 * made


@pytest.mark.parametrize(("share", "kind"), [(False, ControllerAgent), (True, UntimedAgent)])
def test_an_engine_of_this_process_shares_calls_if_it_is_told_to(calls, share, kind):
    agents = local_engine(2, share_calls=share).agents(configuration("full", *GATE))
    assert len(agents) == 2
    assert isinstance(agents[0], kind)
    assert ("calls" in agents[0].models) == share
    assert agents[0].models["reranker"] == "agreeing"
