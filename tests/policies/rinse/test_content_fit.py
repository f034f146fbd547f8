import numpy as np
import pytest
from rinse_data import training_data
from sufficit.policies.rinse.conditional_logit import fit_weights, mean_loss
from sufficit.policies.rinse.content import profile_features
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


def test_takes_the_penalty_under_which_the_worst_unseen_family_does_best():
    data = training_data()
    (model, choices), records = fitted(data)
    assert [choice.l2 for choice in choices] == list(PENALTIES)
    best = min(choices, key=lambda choice: choice.loss)
    assert best.loss < np.log(2)
    rows = np.array(
        [profile_features(e.coverage.overlap(COUNTS), e.coverage.relevance) for e in data.examples]
    )
    rows = (rows - rows.mean(axis=0)) / np.where(rows.std(axis=0) > 1e-9, rows.std(axis=0), 1)
    assert model.weights == pytest.approx(fit_weights(differences(records, rows), best.l2), abs=1e-6)
    losses = []
    for family in {record.family for record in records}:
        own = [k for k, record in enumerate(records) if record.family == family]
        others = [k for k, record in enumerate(records) if record.family != family]
        head = fit_weights(differences([records[k] for k in others], rows[others]), best.l2)
        losses.append(mean_loss(differences([records[k] for k in own], rows[own]), head))
    assert best.loss == pytest.approx(max(losses), abs=1e-6)


def differences(records, rows):
    groups = {}
    for pair in pairs(records):
        groups.setdefault(pair.group, []).append(rows[pair.sufficient] - rows[pair.insufficient])
    return [np.array(group) for group in groups.values()]


def test_one_family_is_judged_by_halves():
    (_, choices), _ = fitted(training_data(("only",)))
    assert min(choice.loss for choice in choices) < np.log(2)


def test_a_constant_feature_does_no_harm():
    data = training_data()
    coverages = [example.coverage for example in data.examples]
    for coverage in coverages:
        coverage.found[:] = True
    model, _ = fit_content([example.record for example in data.examples], coverages, COUNTS)
    assert np.isfinite(model.weights).all()
    assert model.scale[:8].tolist() == [1.0] * 8
    assert model.weights[:8] == pytest.approx(np.zeros(8))
