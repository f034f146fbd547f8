import numpy as np
import pytest
from rinse_data import training_data
from sufficit.policies.rinse.content_fit import PENALTIES, fit_content
from sufficit.policies.rinse.idf import PieceCounts
from sufficit.policies.rinse.records import pairs

COUNTS = PieceCounts(100, {"who": 90, "mayor": 20})


def fitted(data):
    records = [example.record for example in data.examples]
    return fit_content(records, [example.coverage for example in data.examples], COUNTS), records


def test_learns_what_tells_the_sides_apart():
    data = training_data()
    (model, _), records = fitted(data)
    scores = [model.raw(example.coverage) for example in data.examples]
    won = [scores[pair.sufficient] > scores[pair.insufficient] for pair in pairs(records)]
    assert np.mean(won) > 0.65
    assert model.weights[8:].sum() > 3 * abs(model.weights[:8]).sum() / 2  # relevance holds the signal


def test_takes_the_penalty_that_does_best_on_unseen_families():
    (model, choices), _ = fitted(training_data())
    assert [choice.l2 for choice in choices] == list(PENALTIES)
    best = max(choices, key=lambda choice: choice.accuracy)
    size = float(np.linalg.norm(model.weights))
    assert best.accuracy > 0.6
    assert size > 0
    (again, _), _ = fitted(training_data())
    assert float(np.linalg.norm(again.weights)) == size


def test_one_family_is_judged_by_halves():
    (_, choices), _ = fitted(training_data(("only",)))
    assert max(choice.accuracy for choice in choices) > 0.6


def test_a_constant_feature_does_no_harm():
    data = training_data()
    coverages = [example.coverage for example in data.examples]
    for coverage in coverages:
        coverage.found[:] = True
    model, _ = fit_content([example.record for example in data.examples], coverages, COUNTS)
    assert np.isfinite(model.weights).all()
    assert model.scale[:8].tolist() == [1.0] * 8
    assert model.weights[:8] == pytest.approx(np.zeros(8))
