import math

import pytest
from fixed_probe import FixedProbe, ids, named
from sufficit.policies.igp import IGPSettings
from sufficit.policies.set_aware import SetAwareIGP

SETTINGS = IGPSettings(set_aware=True)


async def test_a_passage_that_adds_nothing_to_those_admitted_stays_out() -> None:
    # Alone, a and b are good and c is useless; beside a, b adds nothing and c completes it.
    probe = FixedProbe(
        {"": {"a": 0.3, "b": 0.35, "c": 0.6}, "a": {"b": 0.3125, "c": 0.1}, "ac": {"b": 0.125}}
    )
    report = await SetAwareIGP(probe, SETTINGS).prune("Why?", named("abc"), 0.5)
    assert ids(report.admitted) == "ac"
    assert probe.calls == [("", "abc"), ("a", "bc"), ("ac", "b")]
    assert [gain.gain for gain in report.gains] == pytest.approx([0.2, 0.2, -0.025])
    assert report.gains[2].reason == "gain -0.025 is under the threshold 0"
    assert [ids(r.given) for r in report.rounds] == ["", "a", "ac"]
    assert report.method == "information gain given those admitted"


async def test_the_first_needs_the_papers_threshold() -> None:
    probe = FixedProbe({"": {"a": 0.48, "b": 0.47}})
    report = await SetAwareIGP(probe, SETTINGS).prune("Why?", named("ab"), 0.5)
    assert report.admitted == ()
    assert ids([gain.key for gain in report.gains]) == "ba"
    assert len(probe.calls) == 1


async def test_at_minus_infinity_nothing_is_pruned() -> None:
    probe = FixedProbe({"": {"a": 0.4, "b": 0.6}, "a": {"b": 0.9}})
    settings = IGPSettings(set_aware=True, threshold=-math.inf)
    assert ids((await SetAwareIGP(probe, settings).prune("Why?", named("ab"), 0.5)).admitted) == "ab"


async def test_rounds_end_with_the_places() -> None:
    uncertainties = {"": {"a": 0.1, "b": 0.2, "c": 0.3}, "a": {"b": 0.05, "c": 0.06}}
    probe = FixedProbe(uncertainties)
    settings = IGPSettings(set_aware=True, top_m=2)
    report = await SetAwareIGP(probe, settings).prune("Why?", named("abc"), 0.5)
    assert ids(report.admitted) == "ab"
    assert "2 passages that rank higher" in report.gains[2].reason
    assert len(probe.calls) == 2


async def test_the_token_budget_counts_the_whole_set() -> None:
    probe = FixedProbe(
        {"": {"a": 0.1, "b": 0.2, "c": 0.3}, "a": {"b": 0.0, "c": 0.05}, "ac": {"b": 0.0}},
        {"a": 50, "b": 60, "c": 40},
    )
    settings = IGPSettings(set_aware=True, token_budget=100)
    report = await SetAwareIGP(probe, settings).prune("Why?", named("abc"), 0.5)
    assert ids(report.admitted) == "ac"
    assert report.gains[2].reason == "60 tokens do not fit the 10 left of 100"


async def test_edges() -> None:
    probe = FixedProbe({"": {"a": None, "b": 0.1}, "b": {"a": None}})
    assert (await SetAwareIGP(probe, SETTINGS).prune("Why?", [], 0.5)).gains == ()
    report = await SetAwareIGP(probe, SETTINGS).prune("Why?", named("ab"), 0.5)
    assert ids(report.admitted) == "b"
    assert report.gains[1].barred
    ties = FixedProbe({"": {"a": 0.1, "b": 0.1}, "a": {"b": 0.5}})
    assert ids((await SetAwareIGP(ties, SETTINGS).prune("Why?", named("ab"), 0.5)).admitted) == "a"


async def test_what_no_longer_fits_beside_those_admitted_keeps_its_measurement() -> None:
    probe = FixedProbe({"": {"a": 0.1, "b": 0.2}, "a": {"b": None}})
    report = await SetAwareIGP(probe, SETTINGS).prune("Why?", named("ab"), 0.5)
    assert ids(report.admitted) == "a"
    left = report.gains[1]
    assert (left.uncertainty, left.barred) == (0.2, False)
    assert left.reason == "does not fit the model's context beside those admitted"
