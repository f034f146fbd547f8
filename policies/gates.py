"""Pass-rate and uncertainty gating: when pruning is left alone for a question (IGP, section 5.2)."""

from collections.abc import Sequence
from dataclasses import replace

from ..tools.types import Passage
from .igp import IGPSettings, Probe, judge, ranked, report_on
from .types import PassageGain, Pruner, PruneReport


def lone_gains(report: PruneReport) -> list[float]:
    """IG(d, q) in [-1, 1] of every candidate that was measured, each alone as in IGP section 3.3.

    Set-aware admission measures all alone in its first round; a rival's scores are no gains.
    """
    if report.rounds:
        alone = [judge(c, report.baseline, report.threshold) for c in report.rounds[0].candidates]
    else:
        alone = [gain for gain in report.gains if gain.uncertainty is not None]
    return [found.gain for found in alone if found.gain is not None]


def pass_rate(report: PruneReport) -> float | None:
    """Share of the candidates measured alone with IG >= T_p, in [0, 1]; None where nothing was measured."""
    gains = lone_gains(report)
    return sum(gain >= report.threshold for gain in gains) / len(gains) if gains else None


class Gated:
    """A pruner behind the gates: it is not asked where NU(q) is low, nor heard where its pass rate is odd.

    M and B hold in either case.
    """

    def __init__(self, pruner: Pruner, probe: Probe, settings: IGPSettings) -> None:
        self._pruner = pruner
        self._probe = probe
        self._settings = settings

    async def prune(self, question: str, passages: Sequence[Passage], baseline: float) -> PruneReport:
        """The pruner's report, or the fallback's with `control` saying why."""
        least = self._settings.gates.min_uncertainty
        if least is not None and baseline < least:
            unmeasured = [
                PassageGain(passage.key, None, None, 0, self._probe.tokens(passage), True, "")
                for passage in passages
            ]
            why = f"NU(q) {baseline:.3f} is under {least:g}: not probed, relevance order"
            return replace(report_on(unmeasured, baseline, self._settings), control=why)
        report = await self._pruner.prune(question, passages, baseline)
        why = self._out_of_range(pass_rate(report))
        return self._fallback(report, passages, why) if why else report

    def _out_of_range(self, rate: float | None) -> str:
        gates = self._settings.gates
        if rate is None:
            return ""
        if gates.min_pass_rate is not None and rate < gates.min_pass_rate:
            return f"pass rate {rate:.2f} is under {gates.min_pass_rate:g}"
        if gates.max_pass_rate is not None and rate > gates.max_pass_rate:
            return f"pass rate {rate:.2f} is over {gates.max_pass_rate:g}"
        return ""

    def _fallback(self, report: PruneReport, passages: Sequence[Passage], why: str) -> PruneReport:
        """All that may go in at all, in the order that the settings choose, without T_p."""
        gains = [
            replace(gain, admitted=not gain.barred, reason="") for gain in report.gains if not gain.barred
        ]
        barred = [gain for gain in report.gains if gain.barred]
        if self._settings.gates.fallback == "rerank":
            ordered, order = ranked(gains), "order of gain"
        else:
            places = {passage.key: place for place, passage in enumerate(passages)}
            ordered, order = sorted(gains, key=lambda gain: places[gain.key]), "relevance order"
        again = report_on([*ordered, *barred], report.baseline, self._settings)
        return replace(report, admitted=again.admitted, gains=again.gains, control=f"{why}: {order}")
