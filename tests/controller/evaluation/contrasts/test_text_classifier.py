import hashlib
import math

import numpy as np
import pytest
from sufficit.controller.evaluation.contrasts.text_classifier import (
    DIMENSIONS,
    L2,
    RATE,
    STEPS,
    fit_logistic,
    held_out_probabilities,
    slot,
    term_counts,
)


def test_grams_are_hashed_as_the_paper_says():
    digest = hashlib.blake2b(b"who is", digest_size=4).digest()
    assert slot("who is") == int.from_bytes(digest, "big") % 16_384
    counts = term_counts(["who is who", ""]).toarray()
    assert counts.shape == (2, DIMENSIONS)
    assert counts[0, slot("who")] == 2
    assert counts[0, slot("who is")] == counts[0, slot("is who")] == 1
    assert counts[0].sum() == 5
    assert counts[1].sum() == 0


def test_the_fit_is_300_full_steps_of_gradient_descent():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdef"), 4)) for _ in range(12)]
    features, labels = term_counts(texts), np.array([0.0, 1.0] * 6)
    dense, weights, intercept = features.toarray(), np.zeros(DIMENSIONS), 0.0
    for _ in range(STEPS):
        error = 1 / (1 + np.exp(-(dense @ weights + intercept))) - labels
        weights, intercept = (
            weights - RATE * (dense.T @ error + L2 * weights) / 12,
            intercept - RATE * error.mean(),
        )
    found = fit_logistic(features, labels)
    assert np.allclose(found[0], weights)
    assert found[1] == pytest.approx(intercept)


def test_what_tells_the_label_is_found_and_what_does_not_is_not():
    groups = [n // 2 for n in range(80)]
    labels = [n % 2 == 0 for n in range(80)]
    cue = [
        f"{'never' if label else 'often'} seen {group}" for label, group in zip(labels, groups, strict=True)
    ]
    found = held_out_probabilities(cue, labels, groups)
    assert all((value > 0.5) is label for value, label in zip(found, labels, strict=True))
    same = held_out_probabilities([f"seen {group}" for group in groups], labels, groups)
    assert all(same[n] == same[n + 1] for n in range(0, 80, 2))


def test_a_group_is_never_scored_by_a_model_that_saw_it():
    # One word a group: if a fold leaked, its label could be read off.
    groups = list(range(60))
    labels = [bool(n % 2) for n in groups]
    found = np.array(held_out_probabilities([f"word{n}" for n in groups], labels, groups))
    assert np.abs(found - 0.5).max() < 0.2


def test_little_data_gives_no_error():
    assert held_out_probabilities(["a", "b"], [True, False], ["g", "g"]) == [0.5, 0.5]
    found = held_out_probabilities(["a", "b", "c"], [True, False, True], ["g", "g", "h"])
    assert all(math.isfinite(value) for value in found)
    assert held_out_probabilities([], [], []) == []
