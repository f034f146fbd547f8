import asyncio

import numpy as np
import pytest
from rinse_data import PROMPT, contrasts
from sufficit.policies.rinse.cache import FeatureCache
from sufficit.policies.rinse.content import cover
from sufficit.policies.rinse.latent import latent_prompt, unit_states
from sufficit.policies.rinse.measure import Backbones, Measurer
from sufficit.policies.rinse.sampling import usable
from sufficit.policies.rinse.training import CONCURRENT, FitSettings, measure_records

NAMES = {"wordpieces": "minilm", "reranker": "minilm", "encoder": "smollm"}
SETTINGS = FitSettings((PROMPT,), groups=5, latent_groups=3, padded_groups=1, padding=(2, 6))


class Killed(Exception):
    pass


class _Counting:
    """A real model whose calls are counted, and which can be told to fail from some call on."""

    def __init__(self, model, fail_after=10**9):
        self._model, self.calls, self.fail_after = model, 0, fail_after

    def __getattr__(self, name):
        return getattr(self._model, name)

    def _count(self):
        self.calls += 1
        if self.calls > self.fail_after:
            raise Killed

    async def score(self, queries, texts):
        self._count()
        return await self._model.score(queries, texts)

    async def states(self, prompts, layers):
        self._count()
        return await self._model.states(prompts, layers)


def records():
    return usable([*contrasts("one", 8), *contrasts("two", 6)])[0]


def measure(file, wordpieces, reranker, encoder, progress=lambda *_: None):
    with FeatureCache(file) as cache:
        measurer = Measurer(Backbones(wordpieces, reranker, encoder, NAMES), cache)
        return asyncio.run(measure_records(records(), measurer, SETTINGS, progress))


@pytest.fixture(scope="module")
def whole(tmp_path_factory, wordpieces, reranker, encoder):
    """The data of a fit that nothing interrupted, its cache, and the progress it told."""
    file, told = tmp_path_factory.mktemp("whole") / "features.db", []
    return measure(file, wordpieces, reranker, encoder, lambda *step: told.append(step)), file, told


def test_measures_the_sample_that_the_settings_ask_for(whole):
    data, _, told = whole
    assert len(data.examples) == 2 * 5 * 2
    assert sum(bool(example.states) for example in data.examples) == 2 * 3 * 2
    assert all(example.held_out == SETTINGS.holds_out(example.record) for example in data.examples)
    assert {example.record.group for example in data.examples if example.states} <= {
        example.record.group for example in data.examples
    }
    assert told[-1][1] == told[-1][2]
    assert ("content", 20, 20) in told
    assert ("latent states", 12, 12) in told


def test_measures_what_the_readers_will_see(whole, wordpieces, reranker, encoder):
    example = next(example for example in whole[0].examples if example.states)
    question, passages = example.record.question, example.record.passages
    coverage = asyncio.run(cover(question, passages, wordpieces, reranker))
    assert example.coverage.pieces == coverage.pieces
    assert np.array_equal(example.coverage.found, coverage.found)
    assert example.coverage.relevance == pytest.approx(coverage.relevance, abs=1e-5)
    prompt = asyncio.run(latent_prompt(question, passages, PROMPT, encoder, reranker))
    states = asyncio.run(unit_states(encoder, prompt, [9]))
    assert example.states[PROMPT][9] == pytest.approx(states[0], abs=1e-4)


def test_padding_adds_passages_of_other_questions_of_the_family(whole):
    data = whole[0]
    sizes = {}
    for example in data.padded:
        sizes.setdefault(example.record, []).append(example.size)
    assert sizes
    assert all(found == [2, 4, 8] for found in sizes.values())


def test_counts_leave_held_out_groups_alone(whole, wordpieces):
    data = whole[0]
    texts = {
        passage.text
        for example in data.examples
        if example.record.family == "one" and not example.held_out
        for passage in example.record.passages
    }
    assert data.counts["one"].documents == len(texts)


def test_a_second_run_asks_no_model(whole, wordpieces, reranker, encoder):
    data, file, _ = whole
    silent, mute = _Counting(reranker), _Counting(encoder)
    again = measure(file, wordpieces, silent, mute)
    assert (silent.calls, mute.calls) == (0, 0)
    assert all(
        np.array_equal(first.coverage.relevance, second.coverage.relevance)
        and all(np.array_equal(first.states[key], second.states[key]) for key in first.states)
        for first, second in zip(data.examples, again.examples, strict=True)
    )


@pytest.mark.parametrize("part", ["content", "latent"])
def test_an_interrupted_run_goes_on_where_it_stopped(whole, tmp_path, wordpieces, reranker, encoder, part):
    """Killed after seven calls of a model: the next run makes the rest of them, but for the last batch."""
    made, left = (20, 13) if part == "content" else (12, 5)
    models = {"content": reranker, "latent": encoder}

    def attempt(fail_after):
        counting = models | {part: _Counting(models[part], fail_after)}
        counting["latent"] = counting["latent"] if part == "latent" else None
        try:
            return measure(tmp_path / "f.db", wordpieces, *counting.values()), counting[part].calls
        except Killed:
            return None, counting[part].calls

    assert attempt(7) == (None, 8)
    resumed, calls = attempt(10**9)
    padding = sum(bool(example.states) for example in resumed.padded)
    assert left <= calls <= left + CONCURRENT + padding < made + padding
    for first, second in zip(whole[0].examples, resumed.examples, strict=True):
        assert first.record == second.record
        assert first.coverage.relevance == pytest.approx(second.coverage.relevance, abs=1e-5)


def test_another_backbone_shares_nothing(whole, wordpieces, reranker, encoder):
    class _Other(_Counting):
        fingerprint = "another"

    other = _Other(reranker)
    measure(whole[1], wordpieces, other, None)
    assert other.calls == 20
