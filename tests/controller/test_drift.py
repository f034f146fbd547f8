import pytest
from sufficit.controller.drift import Drift, metrics
from sufficit.controller.trace import Pruned, Scored
from sufficit.policies.igp import IGPSettings, admit
from sufficit.policies.types import Candidate, SufficiencyReport
from sufficit.tools.types import PassageKey


def pruned(*uncertainties, baseline=0.5):
    candidates = [Candidate(PassageKey("s", str(n)), nu, 10) for n, nu in enumerate(uncertainties)]
    return Pruned(report=admit(baseline, candidates, IGPSettings()))


def test_an_empty_window_knows_nothing():
    report = Drift(3).report()
    assert (report.questions, report.gain, report.pass_rate, report.empty) == (0, None, None, 0.0)
    assert 'stat="mean"' not in metrics(report)


def test_mean_and_quantiles_of_gain_and_pass_rate():
    drift = Drift(10)
    drift(pruned(0.25, 0.5))
    drift(pruned(0.5, 0.75, None))
    drift(Scored(report=SufficiencyReport(None, 0.0, (), (), 0)))
    report = drift.report()
    assert (report.questions, report.empty, report.gated, report.guarded) == (2, 0.5, 0.0, 0.0)
    assert report.gain.mean == pytest.approx(0.0)
    assert (report.gain.low, report.gain.median, report.gain.high) == pytest.approx((-0.175, 0.0, 0.175))
    assert report.pass_rate.mean == pytest.approx(0.25)


def test_old_questions_leave_the_window():
    drift = Drift(1)
    drift(pruned(0.25))
    drift(pruned(0.75, baseline=1.0))
    assert drift.report().gain.mean == drift.report().gain.median == 0.25
    assert drift.report().baseline.mean == 1.0


def test_metrics_are_prometheus_text():
    drift = Drift(5)
    drift(pruned(0.25))
    text = metrics(drift.report())
    assert 'sufficit_igp_gain{stat="p90"} 0.25\n' in text
    assert "# TYPE sufficit_igp_pass_rate gauge\n" in text
    assert text.endswith("sufficit_igp_guarded_share 0\n")
