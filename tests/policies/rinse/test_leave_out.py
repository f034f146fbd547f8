import pytest
from rinse_data import PROMPT, training_data, with_joint
from sufficit.policies.rinse.artifact import Backbone
from sufficit.policies.rinse.leave_out import measure_left_out, summarise
from sufficit.policies.rinse.training import FitSettings

BACKBONES = {name: Backbone(name, name) for name in ("wordpieces", "reranker", "encoder")}


@pytest.fixture(scope="module")
def rows():
    return measure_left_out(training_data(), FitSettings((PROMPT,)), BACKBONES, {})


def test_every_family_has_a_row_for_each_reader_and_the_sum(rows):
    assert [(row.family, row.scorer) for row in rows] == [
        (family, scorer)
        for family in ("one", "three", "two")
        for scorer in ("content", "latent", "content+latent")
    ]
    assert all(row.pairs == row.groups == 40 for row in rows)
    assert all(row.low <= row.accuracy <= row.high for row in rows)


def test_a_planted_signal_is_found_on_families_never_seen(rows):
    found = {summary.scorer: summary for summary in summarise(rows)}
    assert found["content"].average > 0.6
    assert found["content+latent"].average > found["content"].average
    assert found["latent"].minimum <= found["latent"].average


def test_without_signal_it_is_chance():
    rows = measure_left_out(training_data(signal=0.0, groups=150), FitSettings((PROMPT,)), BACKBONES, {})
    assert all(summary.average == pytest.approx(0.5, abs=0.08) for summary in summarise(rows))


def test_left_out_families_are_not_scored_either():
    rows = measure_left_out(training_data(), FitSettings((PROMPT,)), BACKBONES, {}, ["two"])
    assert {row.family for row in rows} == {"one", "three"}


def test_a_trained_reader_is_not_scored_on_families_that_it_has_learned_from():
    data = with_joint(training_data(), trained_on=frozenset({"one", "three"}))
    rows = measure_left_out(data, FitSettings((PROMPT,)), BACKBONES, {})
    scorers = {
        family: {row.scorer for row in rows if row.family == family} for family in ("one", "two", "three")
    }
    assert scorers["two"] == {"content", "joint", "latent", "content+joint+latent"}
    assert scorers["one"] == scorers["three"] == {"content", "latent", "content+latent"}
