from dataclasses import replace

import numpy as np
import pytest
from rinse_data import PROMPT
from scripted import capabilities
from sufficit.policies.rinse.artifact import Backbone
from sufficit.policies.rinse.cache import FeatureCache
from sufficit.policies.rinse.measure import Backbones, Measurer
from sufficit.policies.rinse.records import ContrastRecord
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.types import Passage

QUESTION = "who is the mayor of arden"
EVIDENCE = (
    Passage("1", "Ada is the mayor of Arden.", "Arden", "arden", metadata={"start": 0}),
    Passage("2", "Cheese is made of milk.", "Cheese", "cheese"),
)
RECORD = ContrastRecord("g", "one", "made_up", QUESTION, EVIDENCE, label=True)
NAMES = dict.fromkeys(("wordpieces", "reranker", "encoder", "span", "joint"), "a name")


class Words:
    """Words for word pieces."""

    def pieces(self, text):
        return text.lower().replace(".", "").split()

    def join(self, pieces):
        return " ".join(pieces)


class Model:
    """Every backbone in one: scores are numbers of common words, states as long as the prompt."""

    capabilities = capabilities()
    depth = 2

    def __init__(self, fingerprint="f"):
        self.fingerprint, self.calls, self.value = fingerprint, 0, 2.0

    async def score(self, queries, texts):
        self.calls += 1
        words = Words().pieces
        return np.array([[len({*words(q)} & {*words(t)}) for t in texts] for q in queries], np.float32)

    async def states(self, prompts, layers):
        self.calls += 1
        return np.array([[[len(p.text), 1.0 + layer] for p in prompts] for layer in layers], np.float32)

    async def margins(self, question, texts):
        self.calls += 1
        return np.array([self.value - place for place, _ in enumerate(texts)], np.float32)

    async def sufficiency(self, question, texts):
        self.calls += 1
        return self.value

    def count_tokens(self, text):
        return len(text.split())


class Learned:
    families = frozenset({"one"})

    def holds(self, record):
        return record.family == "one"


@pytest.fixture
def cache(tmp_path):
    with FeatureCache(tmp_path / "features.db") as opened:
        yield opened


@pytest.fixture
def models():
    return {part: Model(part) for part in ("reranker", "encoder", "span", "joint")}


def measurer(cache, models, **more):
    return Measurer(Backbones(Words(), names=NAMES, **models, **more), cache)


def test_only_the_parts_that_are_there_are_described(models):
    described = Backbones(Words(), names=NAMES, **models).described()
    assert list(described) == ["wordpieces", "reranker", "encoder", "span", "joint"]
    assert described["span"] == Backbone("a name", "span")
    few = Backbones(Words(), Model(), None, {"wordpieces": "w", "reranker": "r"}).described()
    assert {part: model.model for part, model in few.items()} == {"wordpieces": "w", "reranker": "r"}


async def test_coverage_comes_back_from_the_cache_as_it_was_measured(cache, models):
    first = await measurer(cache, models).coverage(QUESTION, EVIDENCE)
    again = await measurer(cache, models).coverage(QUESTION, EVIDENCE)
    assert models["reranker"].calls == 1
    assert first.pieces == again.pieces == tuple(QUESTION.split())
    held = {"who": "", "is": "12", "the": "1", "mayor": "1", "of": "12", "arden": "1"}
    assert again.found.tolist() == [[source in found for source in "12"] for found in held.values()]
    assert again.found.dtype == np.bool_
    assert again.relevance.tolist() == first.relevance.tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("changes", "measured"),
    [
        ({"id": "other", "score": 0.5, "url": "https://x.example/"}, 1),
        ({"metadata": {"start": 0, "end": 9}}, 1),
        ({"metadata": {"start": 5}}, 2),
        ({"metadata": {}}, 2),
        ({"source": "other"}, 2),
        ({"title": "Other"}, 2),
        ({"text": "Other."}, 2),
    ],
)
async def test_what_a_reader_cannot_see_is_not_measured_anew(cache, models, changes, measured):
    found = measurer(cache, models)
    await found.coverage(QUESTION, EVIDENCE)
    await found.coverage(QUESTION, [replace(EVIDENCE[0], **changes), EVIDENCE[1]])
    assert models["reranker"].calls == measured


async def test_question_and_order_of_the_passages_count(cache, models):
    found = measurer(cache, models)
    for question, passages in ((QUESTION, EVIDENCE), ("who", EVIDENCE), (QUESTION, EVIDENCE[::-1])):
        await found.coverage(question, passages)
    assert models["reranker"].calls == 3


async def test_states_of_all_layers_at_unit_length_once_for_one_prompt(cache, models):
    found, encoder = measurer(cache, models), models["encoder"]
    strongest = replace(PROMPT, passages=1)
    states = await found.states(encoder, QUESTION, EVIDENCE, strongest)
    assert states.shape == (3, 2)
    assert np.linalg.norm(states, axis=1) == pytest.approx([1.0] * 3)
    assert (await found.states(encoder, QUESTION, EVIDENCE, strongest)).tolist() == states.tolist()
    assert (encoder.calls, models["reranker"].calls) == (1, 1)
    # Another record that comes to the same prompt.
    fewer = await found.states(encoder, QUESTION, EVIDENCE[:1], strongest)
    assert fewer.tolist() == states.tolist()
    assert (encoder.calls, models["reranker"].calls) == (1, 1)
    await found.states(encoder, QUESTION, EVIDENCE, PROMPT)
    assert (encoder.calls, models["reranker"].calls) == (2, 1)


async def test_a_trained_reader_is_asked_once_and_kept_by_its_own_hash(cache, models):
    assert await measurer(cache, models).raws(RECORD) == {"span": 2.0, "joint": 2.0}
    for part in ("span", "joint"):
        models[part].value = 9.0
    assert await measurer(cache, models).raws(RECORD) == {"span": 2.0, "joint": 2.0}
    models["span"].fingerprint = "retrained"
    assert await measurer(cache, models).raws(RECORD) == {"span": 9.0, "joint": 2.0}
    # The reranker chooses what the joint reader reads, and nothing of the span reader's.
    models["reranker"].fingerprint = "another"
    models["span"].value = 5.0
    assert await measurer(cache, models).raws(RECORD) == {"span": 9.0, "joint": 9.0}


@pytest.mark.parametrize("taught", ["span", "joint"])
async def test_what_a_reader_has_learned_from_it_is_not_asked(cache, models, taught):
    both = {"span": 2.0, "joint": 2.0}
    found = measurer(cache, models, learned={taught: Learned()})
    assert await found.raws(RECORD) == {part: raw for part, raw in both.items() if part != taught}
    assert models[taught].calls == 0
    assert await found.raws(replace(RECORD, family="two")) == both


async def test_readers_that_are_not_there_give_no_score(cache, models):
    assert await measurer(cache, models | {"span": None, "joint": None}).raws(RECORD) == {}


async def test_an_output_that_is_no_number_is_an_error_and_is_not_kept(cache, models):
    models["joint"].value = float("nan")
    with pytest.raises(ModelOutputError):
        await measurer(cache, models).raws(RECORD)
    models["joint"].value = 0.5
    assert (await measurer(cache, models).raws(RECORD))["joint"] == 0.5
