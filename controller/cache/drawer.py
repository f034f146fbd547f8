"""One index of a shelf: made by the first write, and anew after its scope was freed."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final

from filelock import FileLock, Timeout

from ...tools.errors import IndexLocked, IndexMissing, StorageError
from ...tools.retrievers.embedded import EmbeddedIndex
from ...tools.retrievers.expiry import Unexpired, until_later
from ...tools.retrievers.layout import manifest_path
from ...tools.types import Passage, PassageKey

_PATIENCE: Final = 30.0  # seconds to wait while another index is made
_ATTEMPTS: Final = 3
"""At a write whose index is freed under its hands."""


class Drawer:
    """Holds records by BM25. Safe to share between tasks and threads, and between processes.

    `lock` is a file outside of the folder. Nothing is on the disk until the first write. Where there is
    nothing, nothing is found.
    """

    def __init__(self, folder: Path, lock: Path) -> None:
        self._folder = folder
        self._lock = lock
        self._making = Lock()
        self._index: EmbeddedIndex | None = None

    @property
    def exists(self) -> bool:
        """Whether there is an index."""
        return manifest_path(self._folder).exists()

    async def search(self, question: str, k: int, clock: Callable[[], float]) -> list[Passage]:
        """At most `k` records whose time is not over, best first. Raises StorageError."""
        try:
            index = await asyncio.to_thread(self._opened)
            return await Unexpired(index, clock).search(question, k)
        except IndexMissing:  # never made, swept empty or freed
            return []

    async def held(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """Those of the keys that are there, in no order, whether their time is over or not.

        Raises StorageError.
        """
        try:
            return await (await asyncio.to_thread(self._opened)).held(keys)
        except IndexMissing:
            return []

    def replace(self, passages: Sequence[Passage]) -> None:
        """Add documents, each in the place of its old one; durable when it returns, all or none. Blocking.

        What comes with the text that it had keeps the later of both expiries: each is a fetch's word that the
        text is good until then. Raises IndexLocked, StorageError.
        """
        for attempt in range(_ATTEMPTS):
            try:
                index = self._made()
                index.replace(_lasting(index, passages))
            except (IndexMissing, StorageError):
                if self.exists or attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def sweep(self) -> int:
        """Delete what has expired; returns how many. Blocking. Raises IndexLocked, StorageError."""
        try:
            return self._opened().sweep()
        except IndexMissing:
            return 0

    def _made(self) -> EmbeddedIndex:
        """The index, made where there is none: by one alone, for making one anew empties it."""
        if not self.exists:
            with self._making, alone(self._lock, _PATIENCE):
                if not self.exists:
                    EmbeddedIndex.build(self._folder, ())
        return self._opened()

    def _opened(self) -> EmbeddedIndex:
        if self._index is None:
            self._index = EmbeddedIndex.open(self._folder, for_writing=True)
        return self._index


def _lasting(index: EmbeddedIndex, passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages, each until the later of both expiries. Read within the write, under its lock."""
    held = {passage.key: passage for passage in index.held_now([passage.key for passage in passages])}
    for passage in passages:
        yield until_later(passage, held.get(passage.key))


@contextmanager
def alone(lock: Path, seconds: float) -> Iterator[None]:
    """While no other process or thread makes an index, or frees a scope.

    Raises IndexLocked where another takes longer than `seconds`, StorageError where the disk refuses.
    """
    held = FileLock(lock)
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        held.acquire(timeout=seconds)
    except Timeout as error:
        raise IndexLocked(f"Another process is making or freeing a scope in {lock.parent}.") from error
    except OSError as error:
        raise StorageError(f"{lock.parent} cannot be written: {error.strerror}") from error
    try:
        yield
    finally:
        held.release()
