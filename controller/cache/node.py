"""The cache node: look up what is held, decide whether it suffices, fetch on a miss, keep, decide again.

It is the semantic cache of RINSE section 1: what is stored is served for a new question only where it answers
that question. What decides is `policies.kept_for`, by what passages were kept for; without it RINSE alone.
"""

import asyncio
import time
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from ...policies.kept_for import KeptFor, KeptMatch
from ...policies.rinse.provenance import AnswerThreshold
from ...policies.types import Sufficiency, SufficiencyReport
from ...tools.errors import SettingsError
from ...tools.types import Passage
from ..web import Keeper
from .counters import Counters, calibrated, wrong_hit_estimate
from .fetching import Fetch, Fetched, Need
from .flights import Flights
from .settings import CacheSettings
from .settled import Dated, Settled, SettledNeeds, marks
from .shelf import Shelf
from .shelves import Shelves

Outcome = Literal["hit", "filled", "miss"]

_DEEP = 200
"""As far down as the passages of a need's own fetch are looked for."""

_NEEDS = 16
"""Questions that passages were kept for, the likest by BM25, that a need is compared with."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a node says to one need.

    `hit`: the passages were held and suffice; `filled`: they suffice after a fetch; `miss`: they do not, and
    `reason` says what stood in the way. `passages` are those that the last decision, `report`, is about, best
    first; each carries `scope`, `fetched` and `expires` (seconds since 1970) in its metadata. `match` says
    how well what was kept for another question serves this one, None if nothing was or RINSE alone decides.
    `fetch` is what was fetched, None if nothing was; `shared` if another lookup's fetch served this one.
    """

    outcome: Outcome
    reason: str
    passages: tuple[Passage, ...]
    report: SufficiencyReport
    match: KeptMatch | None = None
    fetch: Fetched | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is held for a need, and whether it serves: by `match` if `by_kept_for`, else by the report."""

    report: SufficiencyReport
    held: tuple[Passage, ...]
    by_kept_for: bool = False
    match: KeptMatch | None = None

    @property
    def serves(self) -> bool:
        if self.by_kept_for:
            return self.match is not None and self.match.serves
        return self.report.sufficient

    def lookup(self, outcome: Outcome, more: str = "") -> Lookup:
        standing = _likeness(self.match) if self.by_kept_for else _standing(self.report)
        return Lookup(outcome, f"{standing}{more}", self.held, self.report, self.match)


class CacheNode:
    """One node over a folder of shelves. Belongs to one event loop.

    `fetch` None leaves misses to the caller. `thresholds` are the artifact's, for the estimate of wrong hits.
    `clock` gives seconds since 1970. With `kept_for` this decides, and what a fetch for a need brought serves
    that need; without it the sufficiency policy decides.
    """

    def __init__(
        self,
        settings: CacheSettings,
        sufficiency: Sufficiency,
        fetch: Fetch | None = None,
        thresholds: Mapping[str, AnswerThreshold] | None = None,
        *,
        clock: Callable[[], float] = time.time,
        kept_for: KeptFor | None = None,
    ) -> None:
        self._settings = settings
        self._kept_for = kept_for
        self._sufficiency = sufficiency
        self._fetch = fetch
        self._thresholds = thresholds or {}
        self._clock = clock
        self._shelves = Shelves(settings.folder, settings.scopes, clock)
        self._flights: Flights[tuple[Fetched, float]] = Flights()
        self._settled = SettledNeeds()
        self._counts = Counters()
        self._calibration: AnswerThreshold | None = None

    async def lookup(self, need: Need, *, may_fetch: bool = True) -> Lookup:
        """Serve the need from what is held, or fetch, keep and decide again.

        A need that was fetched for is not fetched for again while what that brought is fresh, at most for
        `again_seconds`: where it sufficed, it is served though others are more like the question by now;
        where it did not, that is the reason of the miss. A hit changes nothing on the disk. Raises InputError
        where there is no room for another scope, and StorageError, IndexLocked and ModelOutputError as the
        parts do.
        """
        since = self._flights.now()
        shelf = self._shelves.of(need.scope)
        # Before the search, which then finds what was fetched.
        settled = self._settled.find(_key(need), self._clock())
        judged = await self._judged(need, shelf)
        self._count(lookups=1, judged=int(bool(judged.held)))
        if judged.serves:
            return self._ended(judged.lookup("hit"))
        if settled is not None and settled.sufficient and (own := await self._own(need, shelf, settled)):
            return self._ended(own)
        if not may_fetch or self._fetch is None:
            why = "no fetch is set up" if may_fetch else "this lookup may not fetch"
            return self._ended(judged.lookup("miss", f"; {why}"))
        if settled is not None and not settled.sufficient:
            self._count(settled=1)
            why = f"what was fetched for this need did not suffice, and stands until {_date(settled.until)}"
            return self._ended(judged.lookup("miss", f"; {why}"))
        self._shelves.check_room(need.scope)
        return self._ended(await self._filled(need, shelf, since))

    async def _filled(self, need: Need, shelf: Shelf, since: float) -> Lookup:
        """Fetch, decide again and remember what came of it."""
        fetched, until, shared = await self._fetched(need, shelf, since)
        judged = await self._judged(need, shelf)
        # What failed may do better next time.
        if judged.serves or not fetched.faults:
            until = min(until, self._clock() + self._settings.again_seconds)
            self._settled.keep(_key(need), Settled(judged.serves, marks(judged.held), until))
        faults = "".join(f"; {fault}" for fault in fetched.faults)
        more = "" if judged.serves else f" after a fetch that kept {fetched.passages}{faults}"
        lookup = judged.lookup("filled" if judged.serves else "miss", more)
        return replace(lookup, fetch=fetched, shared=shared)

    async def _own(self, need: Need, shelf: Shelf, settled: Settled) -> Lookup | None:
        """A hit on what once sufficed for this very need, if all of it is still held and still does."""
        if self._kept_for is not None:  # has seen to it
            return None
        held = [p for p in await shelf.search(need.question, _DEEP) if marks((p,)) <= settled.marks]
        if marks(held) != settled.marks:
            return None
        judged = await self._decide(need, held)
        return judged.lookup("hit") if judged.serves else None

    async def fill(self, need: Need) -> Fetched:
        """Fetch for a need and keep what comes, whatever is held: nothing is decided.

        Raises UsageError where no fetch is set up, and as `lookup`.
        """
        if self._fetch is None:
            raise SettingsError("nothing can be fetched: set cache.webhook.url or web.search.engine")
        self._shelves.check_room(need.scope)
        fetched, *_ = await self._fetched(need, self._shelves.of(need.scope), self._flights.now())
        return fetched

    async def sweep(self) -> int:
        """Delete expired passages of the next `sweep_scopes` scopes; returns how many.

        Whatever is kept in between deletes its own scope's as well. Raises StorageError.
        """
        swept = await asyncio.to_thread(self._shelves.sweep, self._settings.sweep_scopes)
        self._count(swept=swept)
        return swept

    def counters(self) -> Counters:
        """What was done so far."""
        counts = self._counts
        if self._kept_for is None:
            estimate = wrong_hit_estimate(counts.judged, counts.hits, self._calibration)
        else:
            share = self._settings.wrong_share
            estimate = None if share is None else share * counts.hits
        return replace(counts, fetches_saved=counts.hits + counts.shared, wrong_hits=estimate)

    async def _judged(self, need: Need, shelf: Shelf) -> _Judged:
        """What is held for the need: what was kept for a question like it, else what a search finds."""
        if self._kept_for is None:
            return await self._decide(need, await self._found(need, shelf))
        match = await self._kept_for.best(need.question, await shelf.kept(need.question, _NEEDS))
        if match is not None and match.serves:
            judged = await self._decide(need, list(match.kept.passages))
            if len(judged.held) == len(match.kept.passages):
                return replace(judged, by_kept_for=True, match=match)
            match = None  # some of it has expired meanwhile
        judged = await self._decide(need, await self._found(need, shelf))
        return replace(judged, by_kept_for=True, match=match)

    async def _found(self, need: Need, shelf: Shelf) -> list[Passage]:
        return await shelf.search(need.question, self._settings.passages)

    async def _decide(self, need: Need, held: list[Passage]) -> _Judged:
        """Judge what is held. What expires while it is judged is left out and the rest judged again."""
        while True:  # every turn but the last has fewer passages
            report = await self._sufficiency.score(need.question, held)
            fresh = self._shelves.of(need.scope).fresh(held)
            if len(fresh) == len(held):
                if held and self._kept_for is None:
                    self._calibration = calibrated(report, self._thresholds)
                return _Judged(report, tuple(held))
            held = fresh

    async def _fetched(self, need: Need, shelf: Shelf, since: float) -> tuple[Fetched, float, bool]:
        """What was fetched, when the first of it expires, and whether another lookup did it."""

        async def work() -> tuple[Fetched, float]:
            assert self._fetch is not None
            self._count(fetches=1)
            dated = Dated(shelf)
            keeper = Keeper(dated, self._settings.keep_seconds, self._clock)
            fetched = await self._fetch.fetch(need, keeper)
            if dated.kept:
                seconds = self._settings.keep_seconds
                await asyncio.to_thread(shelf.remember, need.question, dated.kept, seconds)
            return fetched, dated.until if fetched.passages else 0.0

        (fetched, until), shared = await self._flights.share(_key(need), since, work)
        self._count(shared=int(shared))
        return fetched, until, shared

    def _ended(self, lookup: Lookup) -> Lookup:
        counter = {"hit": "hits", "filled": "filled", "miss": "misses"}[lookup.outcome]
        self._count(**{counter: 1})
        return lookup

    def _count(self, **more: int) -> None:
        counts = self._counts
        self._counts = replace(counts, **{name: getattr(counts, name) + n for name, n in more.items()})


def need_key(question: str) -> str:
    """Case, width, spacing and the marks at its end removed: questions equal after this are one need."""
    return " ".join(unicodedata.normalize("NFKC", question).casefold().split()).rstrip(" ?!.")


def _key(need: Need) -> tuple[str, str]:
    return need.scope, need_key(need.question)


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _standing(report: SufficiencyReport) -> str:
    if report.score is None:
        return "nothing is held that fits the question"
    relation = "reaches" if report.sufficient else "does not reach"
    passages = f"{report.passages} passage{'' if report.passages == 1 else 's'}"
    return f"{passages} held score {report.score:.2f}, which {relation} the threshold {report.threshold:.2f}"


def _likeness(match: KeptMatch | None) -> str:
    if match is None:
        return "nothing is held whole that was kept for a like question"
    relation = "reaches" if match.serves else "does not reach"
    lacks = f", and nothing there names {', '.join(match.missing)}" if match.missing else ""
    return (
        f"what was kept for {match.kept.question!r} scores {match.score:.2f}, "
        f"which {relation} the threshold {match.threshold:.2f}{lacks}"
    )
