"""The embedded index: BM25 over title and text, on disk, in process, by tantivy."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import tantivy

from ..errors import IndexMissing, StorageError
from ..types import Passage, PassageKey
from .layout import (
    Manifest,
    manifest_for,
    manifest_path,
    new_version,
    publish,
    read_manifest,
    remove_leftovers,
    storage_error,
    write_lock,
)
from .querying import query_terms, score_query
from .records import prepare, schema, to_passage
from .writing import PassageWriter

_OPEN_ATTEMPTS: Final = 5


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
    """Facts about an index: `size` in bytes on disk, `manifest` what it was made with."""

    passages: int
    segments: int
    size: int
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """One commit of one version, opened; `stamp` tells whether it is still the newest."""

    index: tantivy.Index
    searcher: tantivy.Searcher
    manifest: Manifest
    stamp: tuple[int, ...]


class EmbeddedIndex:
    """An `Index` over a folder. Safe to share between tasks and threads.

    Searches run in worker threads and see every commit made before they began, by whichever process. Writes
    wait for each other within this object; against other writers they raise IndexLocked.
    """

    def __init__(self, path: Path) -> None:
        """Use `open`."""
        self._path = path
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        self._snapshot: _Snapshot | None = None

    @classmethod
    def open(cls, path: Path, *, for_writing: bool = False) -> Self:
        """Open the index at `path`; milliseconds. `for_writing` lets an empty one pass.

        Raises
        ------
        IndexMissing: if there is none, or, unless `for_writing`, it holds no passages.
        IndexMismatch: if it was made with another schema, analyzer or engine.
        StorageError: if it is damaged or cannot be read.
        """
        index = cls(path)
        if index._current().searcher.num_docs == 0 and not for_writing:
            raise _empty(path)
        return index

    @staticmethod
    def build(
        path: Path, passages: Iterable[Passage], progress: Callable[[int], None] | None = None
    ) -> BuildReport:
        """Make the index at `path` anew from `passages`; blocking. What was there stays until the end.

        An error raised by `passages`, a full disk or a kill at any moment leaves the old index. Documents
        replace as in `replace`. `progress` is told the number of passages read so far.

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
                report = _build_version(path, passages, progress or _silent)
            finally:
                remove_leftovers(path)
        return BuildReport(*report, seconds=time.perf_counter() - began)

    async def search(self, query: str, k: int) -> list[Passage]:
        """At most `k` passages, best first, each with its BM25 score.

        [] for a query of stop words, or of words that the index does not hold. Of a query with more than 128
        distinct terms, the rarest 128 count.

        Raises
        ------
        IndexMissing: if the index holds no passages any more.
        IndexMismatch, StorageError: if it was replaced by one that cannot be read.
        """
        return await asyncio.to_thread(self._search, query, k)

    async def add(self, passages: Sequence[Passage]) -> int:
        """Add passages; the same (source, id) replaces. All or nothing. Returns the count after.

        Raises
        ------
        IndexLocked, StorageError
        """
        return await asyncio.to_thread(self._write, lambda writer: writer.put(passages))

    async def delete(self, keys: Sequence[PassageKey]) -> int:
        """Delete passages; returns how many there were. All or nothing.

        Raises
        ------
        IndexLocked, StorageError
        """
        return await asyncio.to_thread(self._delete, lambda writer: writer.delete_keys(keys))

    async def delete_sources(self, sources: Sequence[str]) -> int:
        """Delete all passages of the sources; returns how many there were. All or nothing.

        Raises
        ------
        IndexLocked, StorageError
        """
        return await asyncio.to_thread(self._delete, lambda writer: writer.delete_sources(sources))

    async def count(self) -> int:
        """Number of passages."""
        return (await asyncio.to_thread(self._current)).searcher.num_docs

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

        def put(writer: PassageWriter) -> None:
            nonlocal counts
            counts = writer.put_documents(passages, progress or _silent)

        after = self._write(put)
        return BuildReport(*counts, after, seconds=time.perf_counter() - began)

    def info(self) -> IndexInfo:
        """Facts about the index as it is now."""
        now = self._current()
        folder = self._path / now.manifest.folder
        try:
            size = sum(entry.stat().st_size for entry in folder.iterdir())
        except OSError as error:
            raise storage_error(self._path, error) from error
        return IndexInfo(now.searcher.num_docs, now.searcher.num_segments, size, now.manifest)

    def _search(self, query: str, k: int) -> list[Passage]:
        searcher = self._current().searcher
        if searcher.num_docs == 0:
            raise _empty(self._path)
        terms = query_terms(query, searcher)
        if not terms or k < 1:
            return []
        try:
            found = searcher.search(score_query(terms), min(k, searcher.num_docs), count=False)
            return [to_passage(searcher.doc(address), score) for score, address in found.hits]
        except (OSError, ValueError, RuntimeError) as error:
            raise storage_error(self._path, error) from error

    def _write(self, write: Callable[[PassageWriter], object]) -> int:
        with self._writing, write_lock(self._path):
            snapshot = self._current()
            with PassageWriter(snapshot.index, self._path) as writer:
                write(writer)
            return self._newest().searcher.num_docs

    def _delete(self, write: Callable[[PassageWriter], object]) -> int:
        with self._writing, write_lock(self._path):
            before = self._current()
            with PassageWriter(before.index, self._path) as writer:
                write(writer)
            return before.searcher.num_docs - self._newest().searcher.num_docs

    def _current(self) -> _Snapshot:
        """The newest commit. Two calls of `stat` if nothing changed."""
        snapshot = self._snapshot
        if snapshot is not None and snapshot.stamp == _stamp(self._path, snapshot.manifest):
            return snapshot
        return self._newest()

    def _newest(self) -> _Snapshot:
        with self._opening:
            self._snapshot = _open_newest(self._path)
            return self._snapshot


def _build_version(
    path: Path, passages: Iterable[Passage], progress: Callable[[int], None]
) -> tuple[int, int, int]:
    """Write and publish a version; returns passages read, replaced, and in the index."""
    try:
        folder = new_version(path)
        index = prepare(tantivy.Index(schema(), str(folder), reuse=False))
    except (OSError, ValueError) as error:
        raise storage_error(path, error) from error
    with PassageWriter(index, path) as writer:
        read, replaced = writer.put_documents(passages, progress)
    try:
        index.reload()
        publish(path, manifest_for(folder.name))
    except (OSError, ValueError) as error:
        raise storage_error(path, error) from error
    return read, replaced, index.searcher().num_docs


def _open_newest(path: Path) -> _Snapshot:
    """Open the current version, again if a build replaces and removes it meanwhile."""
    for attempt in range(_OPEN_ATTEMPTS):
        manifest = read_manifest(path)
        stamp = _stamp(path, manifest)  # before opening: a commit in between makes it old, never unseen
        try:
            index = prepare(tantivy.Index.open(str(path / manifest.folder)))
            return _Snapshot(index, index.searcher(), manifest, stamp)
        except (OSError, ValueError) as error:
            if attempt == _OPEN_ATTEMPTS - 1 or read_manifest(path) == manifest:
                raise storage_error(path, error) from error
    raise AssertionError("unreachable: the last attempt returns or raises")


def _stamp(path: Path, manifest: Manifest) -> tuple[int, ...]:
    """Identity of the manifest and of the version's last commit; both files are replaced, never changed."""
    stamp: list[int] = []
    for file in (manifest_path(path), path / manifest.folder / "meta.json"):
        try:
            status = os.stat(file)  # noqa: PTH116  (Path.stat costs twice as much, at every search)
        except OSError:
            continue
        stamp += (status.st_ino, status.st_mtime_ns, status.st_size)
    return tuple(stamp)


def _empty(path: Path) -> IndexMissing:
    return IndexMissing(
        f"The index at {path} is empty.\nAdd passages: sufficit index add CORPUS --index {path}"
    )


def _silent(_count: int) -> None:
    """Progress that nobody watches."""
