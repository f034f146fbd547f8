"""Set-aware admission: each next passage is measured given those already admitted (IGP, section 5.3).

The paper measures every passage alone, so two that say the same are both admitted, and one that only helps
beside another is not. Here the first passage is chosen as in the paper; then, round by round, every
remaining one is probed behind the admitted set S, with NU(q|S) - NU(q|S, d) as its gain, and the best enters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..tools.types import Passage, PassageKey
from .igp import IGPSettings, Probe, judge, ranked, report_on
from .types import PassageGain, ProbeRound, PruneReport


class SetAwareIGP:
    """Pruner by conditional information gain; at most M rounds, each one call of the probe."""

    def __init__(self, probe: Probe, settings: IGPSettings) -> None:
        self._probe = probe
        self._settings = settings

    async def prune(self, question: str, passages: Sequence[Passage], baseline: float) -> PruneReport:
        """Admit one passage a round: the first at a gain of T_p, later ones at `set_threshold`.

        It ends where no gain reaches its threshold, or M or B is spent. Raises as `admit`.
        """
        state = _Growing(list(passages), baseline)
        while state.left and len(state.admitted) < (self._settings.top_m or len(passages)):
            best = await self._round(question, state)
            if best is None:
                break
            state.take(best)
        rest = ranked([state.latest[passage.key] for passage in state.left])
        report = report_on([*state.admitted, *rest], baseline, self._settings)
        method = "information gain given those admitted"
        return replace(report, method=method, rounds=tuple(state.rounds))

    async def _round(self, question: str, state: "_Growing") -> PassageGain | None:
        """Measure what is left; the best that reaches the threshold and fits into B."""
        settings = self._settings
        candidates = await self._probe.uncertainties(question, state.left, state.given)
        state.rounds.append(ProbeRound(tuple(passage.key for passage in state.given), candidates))
        # At -inf nothing is pruned, from the second passage on either.
        later = state.given and settings.threshold > -math.inf
        threshold = settings.set_threshold if later else settings.threshold
        judged = ranked([judge(candidate, state.uncertainty, threshold) for candidate in candidates])
        state.note(judged)
        used = sum(gain.tokens for gain in state.admitted)
        budget = settings.token_budget
        fitting = (g for g in judged if g.admitted and (budget is None or used + g.tokens <= budget))
        return next(fitting, None)


@dataclass(slots=True)
class _Growing:
    """The set on its way; `uncertainty` is NU(q|S), `latest` every passage's last measurement."""

    left: list[Passage]
    uncertainty: float
    given: list[Passage] = field(default_factory=list)
    admitted: list[PassageGain] = field(default_factory=list)
    rounds: list[ProbeRound] = field(default_factory=list)
    latest: dict[PassageKey, PassageGain] = field(default_factory=dict)

    def note(self, judged: Sequence[PassageGain]) -> None:
        """Keep what was measured; what only no longer fits beside the set keeps what it was measured at."""
        for found in judged:
            before = self.latest.get(found.key)
            too_long = found.gain is None and before is not None and before.gain is not None
            self.latest[found.key] = _crowded_out(before) if before and too_long else found

    def take(self, best: PassageGain) -> None:
        """Move the best from what is left into the set."""
        self.given += [passage for passage in self.left if passage.key == best.key]
        self.left = [passage for passage in self.left if passage.key != best.key]
        self.admitted.append(best)
        if best.uncertainty is not None:
            self.uncertainty = best.uncertainty


def _crowded_out(gain: PassageGain) -> PassageGain:
    return replace(gain, admitted=False, reason="does not fit the model's context beside those admitted")
