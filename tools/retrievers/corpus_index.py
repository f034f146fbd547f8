"""What every index of a corpus offers beyond `Index`, and the facts it reports."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..protocols import Index
from ..types import Passage
from .layout import Manifest


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build or a replacement did.

    `read` passages came in, `replaced` of them with the key of an earlier one that came in; `passages` are in
    the index now. `seconds` is wall-clock time.
    """

    read: int
    replaced: int
    passages: int
    seconds: float


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """Facts about an index: `size` in bytes on disk, `parts` counted by the engine's own names.

    `passages` can be found; `expired` ones, whose time is over, are deleted by the next write.
    """

    passages: int
    expired: int
    parts: Mapping[str, int]
    size: int
    manifest: Manifest


class CorpusIndex(Index, Protocol):
    """An index that holds documents, each cut into passages of one source."""

    async def delete_sources(self, sources: Sequence[str]) -> int:
        """Delete all passages of the sources; returns how many there were. All or nothing."""
        ...

    def replace(
        self, passages: Iterable[Passage], progress: Callable[[int], None] | None = None
    ) -> BuildReport:
        """Add whole documents, each in the place of all passages its source had; blocking. All or nothing."""
        ...

    def sweep(self) -> int:
        """Delete the passages whose time is over, as every write does; blocking. Returns how many."""
        ...

    def info(self) -> IndexInfo:
        """Facts about the index as it is now."""
        ...
