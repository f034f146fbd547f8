from dataclasses import replace

import pytest
from fixed_probe import FixedProbe, ids, named
from pydantic import ValidationError
from sufficit.policies.gates import Gated, lone_gains, pass_rate
from sufficit.policies.igp import IGP, IGPSettings
from sufficit.policies.rerank import RetrieverOrder
from sufficit.policies.set_aware import SetAwareIGP

PROBE = {"": {"a": 0.48, "b": 0.3, "c": 0.49, "d": None}}


async def gated(top_m: int = 2, **gates: object):
    probe = FixedProbe(PROBE)
    settings = IGPSettings.model_validate({"top_m": top_m, "gates": gates})
    report = await Gated(IGP(probe, settings), probe, settings).prune("Why?", named("abcd"), 0.5)
    return report, probe


async def test_without_gates_nothing_changes() -> None:
    report, _ = await gated()
    assert (ids(report.admitted), report.control) == ("b", "")
    assert pass_rate(report) == pytest.approx(1 / 3)


async def test_a_low_pass_rate_falls_back_to_relevance_order() -> None:
    report, _ = await gated(min_pass_rate=0.5)
    assert ids(report.admitted) == "ab"
    assert report.control == "pass rate 0.33 is under 0.5: relevance order"
    assert [gain.rank for gain in report.gains] == [1, 2, 3, 4]
    assert "2 passages" in report.gains[2].reason
    assert "context" in report.gains[3].reason


async def test_a_high_pass_rate_falls_back_to_the_order_of_gain() -> None:
    report, _ = await gated(max_pass_rate=0.2, fallback="rerank")
    assert ids(report.admitted) == "ba"
    assert report.control == "pass rate 0.33 is over 0.2: order of gain"


async def test_bounds_are_inside() -> None:
    report, _ = await gated(min_pass_rate=1 / 3, max_pass_rate=1 / 3)
    assert report.control == ""


async def test_a_certain_generator_is_not_probed() -> None:
    report, probe = await gated(min_uncertainty=0.6)
    assert probe.calls == []
    assert ids(report.admitted) == "ab"
    assert report.control == "NU(q) 0.500 is under 0.6: not probed, relevance order"
    assert pass_rate(report) is None
    report, probe = await gated(min_uncertainty=0.5)
    assert probe.calls


async def test_without_candidates_there_is_no_rate() -> None:
    settings = IGPSettings.model_validate({"gates": {"min_pass_rate": 0.5}})
    probe = FixedProbe(PROBE)
    report = await Gated(IGP(probe, settings), probe, settings).prune("Why?", [], 0.5)
    assert (report.admitted, report.control) == ((), "")


async def test_set_aware_gains_are_of_passages_alone() -> None:
    probe = FixedProbe({"": {"a": 0.3, "b": 0.35}, "a": {"b": 0.29}})
    settings = IGPSettings.model_validate({"set_aware": True, "gates": {"min_pass_rate": 1.0}})
    report = await Gated(SetAwareIGP(probe, settings), probe, settings).prune("Why?", named("ab"), 0.5)
    assert lone_gains(report) == pytest.approx([0.2, 0.15])
    assert (pass_rate(report), report.control) == (1.0, "")


async def test_a_rivals_scores_are_no_gains() -> None:
    passages = [replace(passage, score=7.5) for passage in named("ab")]
    report = await RetrieverOrder(FixedProbe(PROBE), IGPSettings()).prune("Why?", passages, 0.5)
    assert (report.gains[0].gain, lone_gains(report), pass_rate(report)) == (7.5, [], None)


def test_bounds_that_no_rate_can_meet_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"min_pass_rate = 0\.9 is above max_pass_rate = 0\.1"):
        IGPSettings.model_validate({"gates": {"min_pass_rate": 0.9, "max_pass_rate": 0.1}})
