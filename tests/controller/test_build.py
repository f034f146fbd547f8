"""What stands over loaded tools: whose ledger pays, and what a trace names."""

import pytest
from scripted import ScriptedGenerator, capabilities
from staged import FixedSearch, passages
from sufficit.controller.build import assembled, names, sufficiency
from sufficit.controller.loading import Tools, load_readers
from sufficit.controller.settings import load, settings_hash
from sufficit.controller.trace import Scored
from sufficit.policies.similarity import SimilarityGate
from sufficit.tools.errors import CapabilityError
from sufficit.tools.models import store

FOUND = passages("Mara Oduya built the harbour of Vell.", "The Rhine rises in the Alps.")
QUESTION = "Who built the harbour of Vell?"


@pytest.fixture(scope="module")
def readers():
    store.install("all-minilm-l6-v2")
    return load_readers(load(environment={}).settings)


def tools(readers, generator=None):
    return Tools(
        FixedSearch(lambda query: FOUND), generator or ScriptedGenerator(answer=lambda _: "Mara"), readers
    )


async def test_a_run_pays_for_the_calls_of_its_own_readers(readers):
    settings = load(
        ["rinse.threshold=-inf", "igp.method=retriever", "igp.guard=false"], environment={}
    ).settings
    controller = assembled(settings, tools(readers))
    _, first = await controller.answer(QUESTION)
    _, second = await controller.answer(QUESTION)
    costs = [event.cost for trace in (first, second) for event in trace if isinstance(event, Scored)]
    assert costs[0]["reader_calls"] > 0
    assert costs[0] == costs[1]


async def test_sufficiency_alone_is_that_of_a_run(readers):
    settings = load(["budget.rounds=1"], environment={}).settings
    alone = await sufficiency(settings, readers).score(QUESTION, FOUND)
    _, trace = await assembled(settings, tools(readers)).answer(QUESTION)
    (scored,) = [event.report for event in trace if isinstance(event, Scored)]
    assert (scored.score, scored.threshold) == (alone.score, alone.threshold)


def test_the_settings_choose_between_rinse_and_the_gate(readers):
    given = ["rinse.method=similarity", "rinse.threshold=0.5"]
    assert isinstance(sufficiency(load(given, environment={}).settings, readers), SimilarityGate)
    assert not isinstance(sufficiency(load(environment={}).settings, readers), SimilarityGate)


def test_what_the_generator_lacks_is_refused_before_the_first_question(readers):
    blind = ScriptedGenerator(capabilities=capabilities(scores_prompts=False))
    with pytest.raises(CapabilityError, match="TrustMargin"):
        assembled(load(environment={}).settings, tools(readers, blind))


def test_a_trace_names_all_that_measures(readers):
    settings = load(["trustmargin.tau=-4"], environment={}).settings
    found = names(settings, tools(readers))
    assert found["settings"] == settings_hash(settings) != settings_hash(load(environment={}).settings)
    assert (found["generator"], found["reranker"]) == ("scripted", readers.reranker.fingerprint)
    assert found["encoder"] == ""
    assert len(found["artifact"]) == 64
