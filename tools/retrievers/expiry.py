"""Passages whose time is over: kept from the web until a date, then neither found nor held.

Only sources behind `web:` expire, so that no field of one's own documents is ever taken for a date.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..protocols import Retriever
from ..types import Passage

KEPT: Final = "web:"
"""Before the source of what was kept from the web."""

FETCHED: Final = "fetched"
EXPIRES: Final = "expires"
"""Metadata of passages kept from the web: seconds since 1970."""

DEEPEST: Final = 1000
"""As far down as is looked for passages that have not expired."""


def expiry(passage: Passage) -> int | None:
    """When the passage's time is over, in seconds since 1970; None for never."""
    until = passage.metadata.get(EXPIRES)
    return int(until) if passage.source.startswith(KEPT) and isinstance(until, int | float) else None


def until_later(passage: Passage, before: Passage | None) -> Passage:
    """The passage until the later of both expiries if `before` has the same title and text, else as it is."""
    if before is None or (before.title, before.text) != (passage.title, passage.text):
        return passage
    ends, ended = expiry(passage), expiry(before)
    if ends is None or ended is None or ended <= ends:
        return passage
    return replace(passage, metadata={**passage.metadata, EXPIRES: ended})


@dataclass(frozen=True, slots=True)
class Unexpired:
    """A retriever without the passages whose time is over."""

    retriever: Retriever
    clock: Callable[[], float] = time.time

    async def search(self, query: str, k: int) -> list[Passage]:
        """See Retriever. Asks for more, up to `DEEPEST`, where expired passages took places."""
        asked = k
        while True:
            found = await self.retriever.search(query, asked)
            fresh = self._fresh(found)[:k]
            if len(fresh) == k or len(found) < asked or asked >= DEEPEST:
                return fresh
            asked = min(4 * asked, DEEPEST)

    def _fresh(self, passages: Sequence[Passage]) -> list[Passage]:
        now = self.clock()
        return [p for p in passages if (until := expiry(p)) is None or until > now]
