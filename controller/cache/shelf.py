"""One scope's passages: an index in a folder of its own.

    DIR/index/        an embedded index, which deletes what has expired at every write and sweep
    DIR/shelf.lock    held while the index is made

What one scope holds cannot be found in another's folder; every passage also names its scope, and one that
names another is not served.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Final

from filelock import FileLock, Timeout

from ...tools.errors import IndexLocked, IndexMissing, StorageError
from ...tools.retrievers.embedded import EmbeddedIndex
from ...tools.retrievers.expiry import Unexpired, expiry
from ...tools.retrievers.layout import manifest_path
from ...tools.types import Passage

SCOPE: Final = "scope"
"""Metadata of kept passages: whose they are."""

_PATIENCE: Final = 30.0  # seconds to wait while another process makes the index


class Shelf:
    """Holds and finds one scope's passages. Safe to share between tasks and threads, and between processes.

    Nothing is on the disk until the first passages come. `clock` gives seconds since 1970.
    """

    def __init__(self, folder: Path, scope: str, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._scope = scope
        self._clock = clock
        self._making = Lock()
        self._index: EmbeddedIndex | None = None

    @property
    def exists(self) -> bool:
        """Whether anything was ever kept here."""
        return manifest_path(self._folder / "index").exists()

    async def search(self, question: str, k: int) -> list[Passage]:
        """At most `k` passages of this scope that have not expired, best first. Raises StorageError."""
        if not self.exists:
            return []
        index = await asyncio.to_thread(self._opened)
        try:
            found = await Unexpired(index, self._clock).search(question, k)
        except IndexMissing:  # all that was kept has been swept
            return []
        return [passage for passage in found if passage.metadata.get(SCOPE) == self._scope]

    def fresh(self, passages: Sequence[Passage]) -> list[Passage]:
        """Those whose time is not over by now; a passage without an expiry was never kept, and is none."""
        now = self._clock()
        return [passage for passage in passages if (expiry(passage) or 0) > now]

    def replace(self, passages: Iterable[Passage]) -> None:
        """See Documents. Durable when it returns, all of them or none. Blocking.

        Raises IndexLocked, StorageError.
        """
        ours = [replace(p, metadata={**p.metadata, SCOPE: self._scope}) for p in passages]
        self._made().replace(ours)

    def sweep(self) -> int:
        """Delete the passages whose time is over; returns how many. Blocking, one transaction.

        Raises IndexLocked, StorageError.
        """
        return self._opened().sweep() if self.exists else 0

    def _made(self) -> EmbeddedIndex:
        """The index, made where there is none: by one alone, for making one anew empties it."""
        if self.exists:
            return self._opened()
        with self._making:
            lock = FileLock(self._folder / "shelf.lock")
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                lock.acquire(timeout=_PATIENCE)
            except Timeout as error:
                raise IndexLocked(f"Another process is making {self._folder}; try again.") from error
            except OSError as error:
                raise StorageError(f"{self._folder} cannot be written: {error.strerror}") from error
            try:
                if not self.exists:
                    EmbeddedIndex.build(self._folder / "index", ())
            finally:
                lock.release()
        return self._opened()

    def _opened(self) -> EmbeddedIndex:
        if self._index is None:
            self._index = EmbeddedIndex.open(self._folder / "index", for_writing=True)
        return self._index
