"""Writing passages into one version of an index: what replaces what, and all or nothing."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import tantivy

from ..types import Passage, PassageKey
from .layout import storage_error
from .records import KEY, SOURCE, key_digest, source_digest, to_record

_HEAP: Final = 96 * 2**20  # bytes of postings held before they go to disk as a segment
_SMALLEST_HEAP: Final = 15 * 2**20  # bytes; the engine takes no less
_REPORT_EVERY: Final = 200  # passages


class PassageWriter:
    """One transaction on an index folder; what is not committed is as if it had never been.

    One thread writes, so that the same passages give the same order of documents. Needs the write lock.
    """

    def __init__(self, index: tantivy.Index, path: Path) -> None:
        self._path = path
        self._index = index
        try:
            self._writer = index.writer(_HEAP, 1)
        except (OSError, ValueError, RuntimeError) as error:
            raise storage_error(path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, or, after an error, leave the index as it was."""
        try:
            if kind is None:
                self._writer.commit()
                self._writer.wait_merging_threads()
            else:
                self._discard()
        except (OSError, ValueError, RuntimeError) as failure:
            self._discard()
            raise storage_error(self._path, failure) from failure

    def put(self, passages: Sequence[Passage]) -> None:
        """Add passages; each replaces the one with its key."""
        for passage in passages:
            self.delete_keys([passage.key])
            self._add(passage)

    def put_documents(self, passages: Iterable[Passage], progress: Callable[[int], None]) -> tuple[int, int]:
        """Add whole documents; each replaces all passages of its source.

        Passages of one source that follow each other are one document. A source that returns later in the
        same call replaces its earlier passages if its first key was there before; else it adds to them.
        `progress` is told the number of passages so far. Returns how many passages came in, and how many
        of them had the key of an earlier one.
        """
        keys: set[int] = set()  # hashes: a large corpus must fit in memory
        sources: set[int] = set()
        count = replaced = 0
        source = None
        for count, passage in enumerate(passages, 1):
            key, of_source = hash(passage.key), hash(passage.source)
            begins, source = passage.source != source, passage.source
            replaced += key in keys
            if not source:  # it belongs to no document, so it can only replace its like
                self.delete_keys([passage.key])
            elif begins and (key in keys or of_source not in sources):
                self.delete_sources([source])
            elif key in keys:
                self.delete_keys([passage.key])
            sources.add(of_source)
            keys.add(key)
            self._add(passage)
            if count % _REPORT_EVERY == 0:
                progress(count)
        progress(count)
        return count, replaced

    def delete_keys(self, keys: Iterable[PassageKey]) -> None:
        """Delete the passages with these keys, as far as there are any."""
        for key in keys:
            self._delete(KEY, key_digest(key))

    def delete_sources(self, sources: Iterable[str]) -> None:
        """Delete all passages of these sources."""
        for source in sources:
            self._delete(SOURCE, source_digest(source))

    def _discard(self) -> None:
        """Let go of the engine's lock, and of the room that segments without a commit take."""
        with suppress(OSError, ValueError, RuntimeError):  # a writer that failed fails again here
            self._writer.wait_merging_threads()
        with suppress(OSError, ValueError, RuntimeError):
            sweeper = self._index.writer(_SMALLEST_HEAP, 1)
            sweeper.garbage_collect_files()
            sweeper.wait_merging_threads()

    def _delete(self, field: str, term: str) -> None:
        try:
            self._writer.delete_documents_by_term(field, term)
        except (OSError, ValueError, RuntimeError) as error:
            raise storage_error(self._path, error) from error

    def _add(self, passage: Passage) -> None:
        try:
            self._writer.add_document(to_record(passage))
        except (OSError, ValueError, RuntimeError) as error:
            raise storage_error(self._path, error) from error
