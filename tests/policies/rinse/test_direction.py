import numpy as np
import pytest
from rinse_data import record
from sufficit.policies.rinse.direction import LatentSample, fit_direction, layer_accuracies


def sample(rows):
    """Rows of (family, group number, label, state of the one layer)."""
    records = [record(family, number, label) for family, number, label, _ in rows]
    return LatentSample(records, np.array([[state] for *_, state in rows], dtype=np.float32))


def test_families_weigh_the_same_however_many_records_they_have():
    rows = [("a", 1, True, [1, 0]), ("a", 1, False, [0, 0])] * 9
    rows += [("b", 2, True, [0, 1]), ("b", 2, False, [0, 0])]
    assert fit_direction(sample(rows))[0].tolist() == [0.5, 0.5]


def test_a_one_sided_family_says_nothing():
    rows = [("a", 1, True, [1, 0]), ("a", 1, False, [0, 0]), ("b", 2, True, [100, 100])]
    assert fit_direction(sample(rows))[0].tolist() == [1.0, 0.0]


def test_a_layer_is_judged_on_families_that_its_direction_has_not_seen():
    """Each family is told apart by an axis of its own: perfect within a family, chance across."""
    rows = []
    for axis, family in enumerate("ab"):
        for number in range(20):
            state = np.zeros(2)
            state[axis] = 1
            rows += [(family, number, True, state), (family, number, False, np.zeros(2))]
    assert layer_accuracies(sample(rows)).tolist() == [0.5]


def test_one_family_is_judged_half_by_half():
    rows = [("a", n, label, [label + n / 100, n]) for n in range(10) for label in (True, False)]
    assert layer_accuracies(sample(rows)).tolist() == [1.0]


def test_noise_is_chance():
    generator = np.random.default_rng(0)
    rows = [(f, n, y, generator.normal(size=4)) for f in "abc" for n in range(200) for y in (True, False)]
    assert layer_accuracies(sample(rows))[0] == pytest.approx(0.5, abs=0.07)
