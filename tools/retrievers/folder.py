"""An index over a folder, whichever engine stores it: versions, locks, and seeing what others write."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ..errors import IndexMissing, StorageError
from ..types import Passage, PassageKey
from .corpus_index import BuildReport, IndexInfo
from .engine import Engine, EngineFailure
from .layout import (
    Manifest,
    new_version,
    publish,
    remove_leftovers,
    storage_error,
    write_lock,
)
from .replacing import Sink, put, put_documents
from .snapshots import Snapshot, close_unused, open_newest, stamp_of

T = TypeVar("T")


class FolderIndex:
    """A `CorpusIndex` over a folder. Safe to share between tasks and threads.

    Searches run in worker threads and see every commit made before they began, by whichever process. Writes
    wait for each other within this object; against other writers they raise IndexLocked.
    """

    def __init__(self, path: Path, engine: Engine, *, for_writing: bool = False) -> None:
        """Open the index at `path`. `for_writing` lets an empty one pass.

        Raises
        ------
        IndexMissing: if there is none, or, unless `for_writing`, it holds no passages.
        IndexMismatch: if it is of another kind, or was made with another schema, analyzer, model or engine.
        StorageError: if it is damaged or cannot be read.
        """
        self._path = path
        self._engine = engine
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        self._snapshot: Snapshot | None = None
        with self._reading() as now:
            if now.reader.count == 0 and not for_writing:
                raise _empty(path)

    async def search(self, query: str, k: int) -> list[Passage]:
        """At most `k` passages, best first, each with its score.

        Raises
        ------
        IndexMissing: if the index holds no passages any more.
        IndexMismatch, StorageError: if it was replaced by one that cannot be read.
        """
        return await self._run(lambda: self._search(query, k))

    async def add(self, passages: Sequence[Passage]) -> int:
        """Add passages; the same (source, id) replaces. All or nothing. Returns the count after.

        Raises
        ------
        IndexLocked, StorageError
        """
        return (await self._run(lambda: self._write(lambda sink: put(sink, passages))))[1]

    async def delete(self, keys: Sequence[PassageKey]) -> int:
        """Delete passages; returns how many there were. All or nothing.

        Raises
        ------
        IndexLocked, StorageError
        """
        before, after = await self._run(lambda: self._write(lambda sink: sink.delete_keys(keys)))
        return before - after

    async def delete_sources(self, sources: Sequence[str]) -> int:
        """Delete all passages of the sources; returns how many there were. All or nothing.

        Raises
        ------
        IndexLocked, StorageError
        """
        before, after = await self._run(lambda: self._write(lambda sink: sink.delete_sources(sources)))
        return before - after

    async def count(self) -> int:
        """Number of passages, without those whose time is over."""
        return await self._run(lambda: self._count(time.time()))

    def sweep(self) -> int:
        """Delete the passages whose time is over, as every write does; blocking. Returns how many there were.

        Raises
        ------
        IndexLocked, StorageError
        """
        with self._reading() as now:
            expired = now.reader.expired(time.time())
        if expired:
            self._write(lambda _: None)
        return expired

    def replace(
        self, passages: Iterable[Passage], progress: Callable[[int], None] | None = None
    ) -> BuildReport:
        """Add whole documents, each in the place of all passages its source had; blocking. All or nothing.

        Passages of one source must follow each other, as the corpus readers give them. `progress` is told the
        number of passages read so far.

        Raises
        ------
        IndexLocked, StorageError, and whatever `passages` raises
        """
        began = time.perf_counter()
        counts = (0, 0)

        def write(sink: Sink) -> None:
            nonlocal counts
            counts = put_documents(sink, passages, progress or _silent)

        _, after = self._write(write)
        return BuildReport(*counts, after, seconds=time.perf_counter() - began)

    def info(self) -> IndexInfo:
        """Facts about the index as it is now."""
        with self._reading() as now:
            folder = self._path / now.manifest.folder
            try:
                size = sum(entry.stat().st_size for entry in folder.iterdir())
            except OSError as error:
                raise storage_error(self._path, error) from error
            expired = now.reader.expired(time.time())
            return IndexInfo(now.reader.count - expired, expired, now.reader.parts, size, now.manifest)

    async def _run(self, function: Callable[[], T]) -> T:
        if self._engine.executor is None:
            return await asyncio.to_thread(function)
        return await asyncio.get_running_loop().run_in_executor(self._engine.executor, function)

    def _search(self, query: str, k: int) -> list[Passage]:
        with self._reading() as now:
            if now.reader.count == 0:
                raise _empty(self._path)
            if k < 1:
                return []
            try:
                return now.reader.search(query, min(k, now.reader.count))
            except self._engine.errors as error:
                raise storage_error(self._path, error) from error

    def _count(self, when: float) -> int:
        with self._reading() as now:
            return now.reader.count - now.reader.expired(when)

    def _write(self, write: Callable[[Sink], None]) -> tuple[int, int]:
        """Write in one transaction, which also deletes what has expired.

        Returns the number of passages before, without what had expired, and after.
        """
        with self._writing, write_lock(self._path):
            when = time.time()
            with self._reading() as before:
                count = before.reader.count - before.reader.expired(when)
                with _transaction(self._engine, self._path, before.manifest.folder) as sink:
                    sink.delete_expired(when)
                    write(sink)
            return count, self._count(when)

    @contextmanager
    def _reading(self) -> Iterator[Snapshot]:
        """The newest commit, kept open meanwhile. Costs two calls of `stat` if nothing changed."""
        with self._opening:
            now = self._snapshot
            if now is None or now.stamp != stamp_of(self._path, self._engine, now.manifest):
                now = open_newest(self._path, self._engine)
                if (old := self._snapshot) is not None:
                    old.retired = True
                    close_unused(old)
                self._snapshot = now
            now.users += 1
        try:
            yield now
        finally:
            with self._opening:
                now.users -= 1
                close_unused(now)


def build_folder(
    path: Path,
    engine: Engine,
    passages: Iterable[Passage],
    progress: Callable[[int], None] | None = None,
) -> BuildReport:
    """Make the index at `path` anew from `passages`; blocking. What was there stays until the end.

    An error raised by `passages`, a full disk or a kill at any moment leaves the old index. Documents
    replace as in `FolderIndex.replace`. `progress` is told the number of passages read so far.

    Raises
    ------
    IndexLocked, StorageError
    """
    began = time.perf_counter()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"The index folder {path} cannot be made: {error.strerror}.") from error
    with write_lock(path):
        remove_leftovers(path)
        try:
            report = _build_version(path, engine, passages, progress or _silent)
        finally:
            remove_leftovers(path)
    return BuildReport(*report, seconds=time.perf_counter() - began)


def _build_version(
    path: Path, engine: Engine, passages: Iterable[Passage], progress: Callable[[int], None]
) -> tuple[int, int, int]:
    """Write and publish a version; returns passages read, replaced, and in the index."""
    try:
        folder = new_version(path)
        engine.create(folder)
    except engine.errors as error:
        raise storage_error(path, error) from error
    with _transaction(engine, path, folder.name) as sink:
        read, replaced = put_documents(sink, passages, progress)
    try:
        reader = engine.open(folder)
        count = reader.count
        reader.close()
        publish(path, Manifest(engine.kind, folder.name, engine.made_with))
    except engine.errors as error:
        raise storage_error(path, error) from error
    return read, replaced, count


@contextmanager
def _transaction(engine: Engine, path: Path, folder: str) -> Iterator[Sink]:
    """The engine's, its own errors told as what they mean to the user."""
    try:
        with engine.writer(path / folder) as sink:
            yield sink
    except EngineFailure as failure:
        raise storage_error(path, failure.error) from failure.error


def _empty(path: Path) -> IndexMissing:
    return IndexMissing(
        f"The index at {path} is empty.\nAdd passages: sufficit index add CORPUS --index {path}"
    )


def _silent(_count: int) -> None:
    """Progress that nobody watches."""
