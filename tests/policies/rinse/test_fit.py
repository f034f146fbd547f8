from dataclasses import replace

import numpy as np
import pytest
from rinse_data import PROMPT, training_data, with_joint
from sufficit.policies.rinse.artifact import Backbone
from sufficit.policies.rinse.fit import fit_artifact, reader_terms
from sufficit.policies.rinse.idf import PieceCounts
from sufficit.policies.rinse.training import FitSettings
from sufficit.tools.errors import InputError

SETTINGS = FitSettings((PROMPT,))
BACKBONES = {name: Backbone(name, f"hash of {name}") for name in ("wordpieces", "reranker", "encoder")}


def fit(data, *left_out):
    return fit_artifact(data, SETTINGS, BACKBONES, {"pairs.jsonl": "0" * 64}, left_out)


def test_finds_the_layer_and_the_direction_that_were_planted():
    artifact = fit(training_data())
    assert artifact.latent.layer == 2
    assert int(np.argmax(artifact.latent.direction)) == 0
    assert artifact.provenance.layers[0].prompt == PROMPT


def test_terms_of_the_fitted_records_are_standardised():
    data = training_data()
    artifact = fit(data)
    fitted = [example for example in data.examples if not example.held_out]
    terms = [reader_terms(e, artifact.content, artifact.latent, artifact.standards) for e in fitted]
    for reader in ("content", "latent"):
        values = np.array([term[reader] for term in terms])
        assert values.mean() == pytest.approx(0, abs=1e-6)
        assert values.std() == pytest.approx(1)


def test_every_set_of_readers_has_a_threshold_within_the_risk():
    artifact = fit(training_data())
    assert set(artifact.thresholds) == {"content", "latent", "content+latent"}
    for found in artifact.thresholds.values():
        assert (found.groups * found.insufficient_rate + 1) / (found.groups + 1) <= 0.2
        assert found.groups == 30
    both, one = artifact.thresholds["content+latent"], artifact.thresholds["content"]
    assert both.sufficient_rate > one.sufficient_rate > 0.2


def test_the_same_data_give_the_same_artifact():
    first, second = fit(training_data()), fit(training_data())
    assert np.array_equal(first.content.weights, second.content.weights)
    assert first.thresholds == second.thresholds
    assert first.standards == second.standards


def test_nothing_of_a_left_out_family_is_looked_at():
    """Whatever stands in the family's records, counts and padding, the fit without it is the same."""
    data = training_data()
    poisoned = replace(
        data,
        examples=[
            replace(
                e,
                coverage=replace(e.coverage, relevance=e.coverage.relevance * -1e6),
                states={PROMPT: e.states[PROMPT] * -1e6},
            )
            if e.record.family == "two"
            else e
            for e in data.examples
        ],
        padded=[
            replace(p, states={PROMPT: p.states[PROMPT] * 1e6}) if p.family == "two" else p
            for p in data.padded
        ],
        counts=data.counts | {"two": PieceCounts(10_000, {"mayor": 10_000})},
    )
    clean, dirty = fit(data, "two"), fit(poisoned, "two")
    assert np.array_equal(clean.content.weights, dirty.content.weights)
    assert clean.content.counts == dirty.content.counts
    assert np.array_equal(clean.latent.direction, dirty.latent.direction)
    assert clean.standards == dirty.standards
    assert clean.thresholds == dirty.thresholds
    assert clean.provenance.left_out == ("two",)
    assert clean.provenance.families == ("one", "three")
    assert not np.array_equal(clean.content.weights, fit(poisoned).content.weights)


def test_held_out_groups_set_the_threshold_and_nothing_else():
    data = training_data()
    shifted = replace(
        data,
        examples=[
            replace(e, coverage=replace(e.coverage, relevance=e.coverage.relevance + 5)) if e.held_out else e
            for e in data.examples
        ],
    )
    first, second = fit(data), fit(shifted)
    assert np.array_equal(first.content.weights, second.content.weights)
    assert first.standards == second.standards
    assert first.thresholds["content"] != second.thresholds["content"]


def test_without_states_there_is_a_content_reader_alone():
    data = training_data()
    bare = replace(data, examples=[replace(e, states={}) for e in data.examples], padded=[])
    artifact = fit(bare)
    assert artifact.latent is None
    assert set(artifact.thresholds) == {"content"}
    assert "encoder" not in artifact.backbones


def test_the_latent_reader_gets_a_padding_curve():
    curve = fit(training_data()).standards["latent"].curve
    assert curve.largest == 4
    assert curve.padding is not None
    assert curve.at(1000) == curve.at(101)


def test_nothing_left_is_an_error():
    with pytest.raises(InputError, match="no pair is left"):
        fit(training_data(("one",)), "one")


def test_a_trained_reader_is_standardised_and_has_its_thresholds():
    data = with_joint(training_data())
    backbones = BACKBONES | {"joint": Backbone("joint", "hash of joint")}
    artifact = fit_artifact(data, SETTINGS, backbones, {"pairs.jsonl": "0" * 64})
    assert set(artifact.standards) == {"content", "joint", "latent"}
    assert len(artifact.thresholds) == 7
    assert artifact.standards["joint"].curve.beta == pytest.approx(2.0, abs=0.3)
    fitted = [example for example in data.examples if not example.held_out]
    terms = [reader_terms(e, artifact.content, artifact.latent, artifact.standards)["joint"] for e in fitted]
    assert np.mean(terms) == pytest.approx(0, abs=1e-6)
    assert np.std(terms) == pytest.approx(1)


def test_a_trained_reader_follows_its_padded_curve_beyond_the_training_range():
    artifact = fit_artifact(with_joint(training_data()), SETTINGS, BACKBONES, {})
    curve = artifact.standards["joint"].curve
    assert curve.largest == 4
    # The padded records stop growing at 21 passages; the line of the training range would not.
    assert curve.at(100) == pytest.approx(curve.at(21), abs=1e-6)
    assert curve.at(20) > curve.at(4)
