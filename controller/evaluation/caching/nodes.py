"""The cache node itself in a stream: the real one over a real index, at the stream's times."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ....policies.kept_for import KeptFor
from ....policies.types import Sufficiency, SufficiencyReport
from ....tools.types import Passage, PassageKey
from ...cache.fetching import Fetched, Need
from ...cache.node import CacheNode
from ...cache.settings import CacheSettings
from ...stages import PageVisit
from ...web import Keeper
from .asking import BEGAN, Asked, Cache, Method
from .stream import Event

RINSE: Final = "node by RINSE alone"
AS_SET: Final = "node as set"

_Set = tuple[str, tuple[tuple[PassageKey, str], ...]]


@dataclass(slots=True)
class Remembered:
    """A sufficiency policy that scores no question with the same passages twice, whatever the threshold."""

    sufficiency: Sufficiency
    _reports: dict[_Set, SufficiencyReport] = field(default_factory=dict)

    async def score(self, question: str, passages: Sequence[Passage]) -> SufficiencyReport:
        """As `Sufficiency.score`."""
        key = question, tuple((passage.key, passage.text) for passage in passages)
        if key not in self._reports:
            self._reports[key] = await self.sufficiency.score(question, passages)
        return self._reports[key]


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """A sufficiency policy under another threshold; None leaves it its own."""

    sufficiency: Sufficiency
    threshold: float | None

    async def score(self, question: str, passages: Sequence[Passage]) -> SufficiencyReport:
        """As `Sufficiency.score`."""
        report = await self.sufficiency.score(question, passages)
        return report if self.threshold is None else replace(report, threshold=self.threshold)


@dataclass(slots=True)
class NodeCache:
    """A node whose clock and whose web are the stream's."""

    folder: Path
    sufficiency: Sufficiency
    passages: int
    kept_for: KeptFor | None = None
    _event: Event | None = None
    _node: CacheNode = field(init=False)

    def __post_init__(self) -> None:
        """Make the node."""
        settings = CacheSettings(folder=self.folder, passages=self.passages)
        self._node = CacheNode(settings, self.sufficiency, self, clock=self._now, kept_for=self.kept_for)

    async def ask(self, event: Event) -> Asked:
        """See Cache."""
        self._event = event
        need = Need(event.question, "stream")
        looked = await self._node.lookup(need, may_fetch=False)
        score = looked.report.score
        if self.kept_for is not None:
            score = looked.match.score if looked.match else None
        if looked.outcome == "hit":
            return Asked(score, looked.passages)
        # What is decided after the fetch changes nothing that is held.
        await self._node.fill(need)
        return Asked(score, None)

    async def fetch(self, need: Need, keeper: Keeper) -> Fetched:
        """See Fetch: what the event says that a fetch brings."""
        assert self._event is not None
        passages = [given.passage() for given in self._event.passages]
        if passages:
            await replace(keeper, seconds=self._event.ttl).keep(passages)
        return Fetched((PageVisit(need.question, len(passages)),))

    def _now(self) -> float:
        assert self._event is not None
        return BEGAN + self._event.time


def node_methods(sufficiency: Sufficiency, passages: int, kept_for: KeptFor | None) -> list[Method]:
    """The node as the settings have it, and by RINSE alone with its threshold swept."""
    remembered = Remembered(sufficiency)

    @contextmanager
    def swept(threshold: float) -> Iterator[Cache]:
        with tempfile.TemporaryDirectory(prefix="sufficit-cache-") as folder:
            yield NodeCache(Path(folder), AtThreshold(remembered, threshold), passages)

    @contextmanager
    def as_set(_: float) -> Iterator[Cache]:
        with tempfile.TemporaryDirectory(prefix="sufficit-cache-") as folder:
            yield NodeCache(Path(folder), remembered, passages, kept_for)

    return [Method(AS_SET, True, as_set), Method(RINSE, False, swept)]
