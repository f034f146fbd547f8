"""What the fetches for a need came to: the same need is not fetched for again while that is fresh."""

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final

from ...tools.retrievers.expiry import expiry
from ...tools.types import Passage
from ..web import Documents

_REMEMBERED: Final = 4096
"""Needs that are remembered, the latest ones."""

Mark = tuple[str, str, int | None]
"""A passage as it was fetched: its source, its id and its expiry, which every fetch of it moves."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What was decided on `marks` after a fetch for the need, and until when that stands, since 1970."""

    sufficient: bool
    marks: frozenset[Mark]
    until: float


class SettledNeeds:
    """The latest needs that were fetched for. Passages themselves stay on the disk."""

    def __init__(self) -> None:
        self._settled: OrderedDict[Hashable, Settled] = OrderedDict()

    def keep(self, key: Hashable, settled: Settled) -> None:
        """Remember it in the place of what was known of the need."""
        self._settled[key] = settled
        self._settled.move_to_end(key)
        if len(self._settled) > _REMEMBERED:
            self._settled.popitem(last=False)

    def find(self, key: Hashable, now: float) -> Settled | None:
        """What still stands of the need at `now`."""
        settled = self._settled.get(key)
        return settled if settled is not None and settled.until > now else None


def marks(passages: Iterable[Passage]) -> frozenset[Mark]:
    """The passages by what tells them from others, and from later fetches of the same."""
    return frozenset((passage.source, passage.id, expiry(passage)) for passage in passages)


@dataclass(slots=True)
class Dated:
    """Keeps documents in `index`, and notes what was `kept`, and in `until` when its first is to expire."""

    index: Documents
    until: float = field(default=float("inf"))
    kept: list[Passage] = field(default_factory=list)

    def replace(self, passages: Iterable[Passage]) -> object:
        """See Documents."""
        given = list(passages)
        done = self.index.replace(given)
        self.kept += given
        self.until = min([self.until, *(expiry(passage) or 0.0 for passage in given)])
        return done
