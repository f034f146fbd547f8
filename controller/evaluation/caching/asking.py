"""What a cache makes of one event, and whether that was right.

**Hit**: the cache answers the event from what it holds, without a fetch. **Wrong hit**: a hit whose served
passages lack one that the event's annotated support names, or hold it out of date, or an event that nothing
answers (no support). **Right hit**: any other. **Fetches saved**: hits, right or wrong, as a share of all
events, for without a cache every event is one fetch. **Wrong-hit rate**: wrong hits as a share of hits; 0
where there is no hit.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from ....tools.retrievers.expiry import EXPIRES, FETCHED
from ....tools.types import Passage
from .stream import Event

BEGAN: Final = 4_102_444_800
"""When a stream begins, in seconds since 1970: ahead of the machine's clock, by which an index deletes."""

SWEPT: Final = "sufficit"
"""Name of the decision that the others are compared with."""

Outcome = Literal["fetch", "right", "wrong"]


@dataclass(frozen=True, slots=True)
class Asked:
    """`score` is what the cache judged by before any fetch, None if it held nothing to judge.

    `served` are the passages of a hit, None where it fetched.
    """

    score: float | None
    served: tuple[Passage, ...] | None


class Cache(Protocol):
    """A cache in the course of one stream."""

    async def ask(self, event: Event) -> Asked:
        """Serve the event or fetch for it; whatever was fetched is held from then on, until it expires."""
        ...


@dataclass(frozen=True, slots=True)
class Method:
    """One kind of cache: `opened(threshold)` is an empty one that serves from that score on.

    A `fixed` one has no threshold of its own to choose, and is run once.
    """

    name: str
    fixed: bool
    opened: Callable[[float], AbstractContextManager[Cache]]


def outcome(event: Event, asked: Asked) -> Outcome:
    """What became of the event."""
    if asked.served is None:
        return "fetch"
    return "right" if suffices(event, asked.served) else "wrong"


def suffices(event: Event, passages: Sequence[Passage]) -> bool:
    """Whether the passages hold the event's whole support, none of it out of date."""
    held = {passage.id for passage in passages if fresh(passage, event)}
    return bool(event.support) and set(event.support) <= held


def fresh(passage: Passage, event: Event) -> bool:
    """Whether the passage's time is not over when the event arrives."""
    return float(passage.metadata[EXPIRES]) > BEGAN + event.time


def fetched(event: Event) -> list[Passage]:
    """What a fetch for the event brings, dated."""
    now = BEGAN + event.time
    dates = {FETCHED: now, EXPIRES: now + event.ttl}
    return [replace(given.passage(), metadata=dates) for given in event.passages]
