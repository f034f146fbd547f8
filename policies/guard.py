"""The sufficiency guard: pruning stops before what is left no longer suffices.

IGP asks what makes the generator certain, and a generator can be certain of the wrong thing. RINSE asks
whether the answer is there. The guard drops passages from the lowest gain up, as the pruner wants, but only
while the rest still suffices; a passage without which it would not is kept, and one of the admitted makes
room for it where M or B is full.
"""

from collections.abc import Sequence
from dataclasses import replace

from ..tools.types import Passage, PassageKey
from .igp import IGPSettings
from .types import GuardReport, PassageGain, Pruner, PruneReport, SubsetScore, Sufficiency

Keys = tuple[PassageKey, ...]


class Guarded:
    """A pruner under guard.

    The guard scores at most `guard_checks` sets: how many of the lowest passages can go together is found by
    bisection. Every set that it settles on was itself measured to suffice.
    """

    def __init__(self, pruner: Pruner, sufficiency: Sufficiency, settings: IGPSettings) -> None:
        self._pruner = pruner
        self._sufficiency = sufficiency
        self._settings = settings

    async def prune(self, question: str, passages: Sequence[Passage], baseline: float) -> PruneReport:
        """The pruner's report, with what the guard kept or took out; M and B hold.

        Where no set within M and B was found to suffice, the pruner's choice stands.
        """
        report = await self._pruner.prune(question, passages, baseline)
        watch = _Watch(question, passages, self._sufficiency, self._settings.guard_checks)
        if await watch.suffices(report.admitted):
            return replace(report, guard=watch.report("what was admitted suffices"))
        every = tuple(gain.key for gain in report.gains if not gain.barred)
        if not await watch.suffices(every):
            known = "all passages together do not suffice"
            unknown = "what was admitted does not suffice, and no other set may be scored"
            return replace(report, guard=watch.report(known if watch.knows(every) else unknown))
        left = await self._thinned(report, every, watch)
        if self._excess(report, left, left):
            note = "no set within igp.top_m and igp.token_budget was found to suffice"
            return replace(report, guard=watch.report(note))
        return _with_left(report, left, watch)

    async def _thinned(self, report: PruneReport, every: Keys, watch: "_Watch") -> Keys:
        """`every` without what was pruned, and then, as M and B demand, without the lowest admitted."""
        lowest_first = tuple(reversed(every))
        pruned = tuple(key for key in lowest_first if key not in report.admitted)
        left = await watch.thin(every, pruned, len(pruned))
        admitted = tuple(key for key in lowest_first if key in report.admitted)
        return await watch.thin(left, admitted, self._excess(report, left, admitted))

    def _excess(self, report: PruneReport, left: Keys, droppable: Keys) -> int:
        """How many of `droppable`, the first ones first, must go before `left` is within M and B."""
        tokens = {gain.key: gain.tokens for gain in report.gains}
        for count in range(len(droppable) + 1):
            rest = [key for key in left if key not in droppable[:count]]
            top_m, budget = self._settings.top_m, self._settings.token_budget
            within_budget = budget is None or sum(tokens[key] for key in rest) <= budget
            if (top_m is None or len(rest) <= top_m) and within_budget:
                return count
        return len(droppable)


def _with_left(report: PruneReport, left: Keys, watch: "_Watch") -> PruneReport:
    """The report with exactly `left` admitted, in rank order."""
    kept = tuple(key for key in left if key not in report.admitted)

    def placed(gain: PassageGain) -> PassageGain:
        if gain.key in kept:
            reason = f"kept by the guard, the rest would not suffice; {gain.reason or 'not admitted'}"
            return replace(gain, admitted=True, reason=reason)
        if gain.admitted and gain.key not in left:
            return replace(gain, admitted=False, reason="makes room for what the guard kept")
        return gain

    gains = tuple(map(placed, report.gains))
    note = f"kept {len(kept)} that pruning would have dropped"
    return replace(report, admitted=left, gains=gains, guard=watch.report(note, kept))


class _Watch:
    """Scores sets of one question's passages, each once, and no more than the limit."""

    def __init__(
        self, question: str, passages: Sequence[Passage], sufficiency: Sufficiency, limit: int
    ) -> None:
        self._question = question
        self._passages = passages
        self._sufficiency = sufficiency
        self._limit = limit
        self._threshold = 0.0
        self._checks: list[SubsetScore] = []
        self._known: dict[Keys, bool] = {}

    def knows(self, keys: Keys) -> bool:
        """Whether these passages were scored."""
        return keys in self._known

    async def suffices(self, keys: Keys) -> bool:
        """Whether these passages suffice; False where the limit leaves it unknown."""
        if keys not in self._known:
            if len(self._checks) >= self._limit:
                return False
            chosen = [passage for passage in self._passages if passage.key in keys]
            report = await self._sufficiency.score(self._question, chosen)
            self._threshold = report.threshold
            self._checks.append(SubsetScore(tuple(passage.key for passage in chosen), report.score))
            self._known[keys] = report.sufficient
        return self._known[keys]

    async def thin(self, left: Keys, droppable: Keys, most: int) -> Keys:
        """`left`, which suffices, without `most` of `droppable` at most, the first ones first.

        Bounded: every turn takes at least one key off `droppable`.
        """
        while most > 0 and droppable:
            count = await self._go_together(left, droppable[:most])
            left = _without(left, droppable[:count])
            # The one after them is needed.
            droppable, most = droppable[count + 1 :], most - count
        return left

    async def _go_together(self, left: Keys, run: Keys) -> int:
        """The largest count of the first in `run` without which `left` was found to suffice, by bisection."""
        low, high = 0, len(run)
        while low < high:
            middle = (low + high + 1) // 2
            if await self.suffices(_without(left, run[:middle])):
                low = middle
            else:
                high = middle - 1
        return low

    def report(self, note: str, kept: Keys = ()) -> GuardReport:
        """What was measured, and what came of it."""
        count = len(self._checks)
        spent = f"; the guard stopped after {count} {'set' if count == 1 else 'sets'}"
        whole = note + spent if count >= self._limit else note
        return GuardReport(self._threshold, tuple(self._checks), kept, whole)


def _without(keys: Keys, gone: Keys) -> Keys:
    return tuple(key for key in keys if key not in gone)
