"""One transaction of tantivy on one version of an index: all or nothing."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

import tantivy

from ..types import Passage, PassageKey
from .engine import EngineFailure
from .records import KEY, SOURCE, expired_by, prepare, to_record
from .stored import key_digest, source_digest

ERRORS: Final = (OSError, ValueError, RuntimeError)
"""What tantivy raises where the disk or its files fail."""

T = TypeVar("T")
_HEAP: Final = 96 * 2**20  # bytes of postings held before they go to disk as a segment
_SMALLEST_HEAP: Final = 15 * 2**20  # bytes; the engine takes no less


class PassageWriter:
    """A `Sink`; what is not committed is as if it had never been. Raises EngineFailure. Needs the write lock.

    One thread writes, so that the same passages give the same order of documents.
    """

    def __init__(self, folder: Path) -> None:
        self._index = _guarded(lambda: prepare(tantivy.Index.open(str(folder))))
        self._writer = _guarded(lambda: self._index.writer(_HEAP, 1))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, or, after an error, leave the index as it was."""
        if kind is not None:
            self._discard()
            return
        try:
            self._writer.commit()
            self._writer.wait_merging_threads()
        except ERRORS as failure:
            self._discard()
            raise EngineFailure(failure) from failure

    def insert(self, passage: Passage) -> None:
        """Add a passage whose key is not there."""
        _guarded(lambda: self._writer.add_document(to_record(passage)))

    def delete_keys(self, keys: Iterable[PassageKey]) -> None:
        """Delete the passages with these keys, as far as there are any."""
        for key in keys:
            self._delete(KEY, key_digest(key))

    def delete_sources(self, sources: Iterable[str]) -> None:
        """Delete all passages of these sources."""
        for source in sources:
            self._delete(SOURCE, source_digest(source))

    def delete_expired(self, now: float) -> None:
        """Delete the passages whose time is over."""
        _guarded(lambda: self._writer.delete_documents_by_query(expired_by(now)))

    def _delete(self, field: str, term: str) -> None:
        _guarded(lambda: self._writer.delete_documents_by_term(field, term))

    def _discard(self) -> None:
        """Let go of the engine's lock, and of the room that segments without a commit take."""
        with suppress(*ERRORS):  # a writer that failed fails again here
            self._writer.wait_merging_threads()
        with suppress(*ERRORS):
            sweeper = self._index.writer(_SMALLEST_HEAP, 1)
            sweeper.garbage_collect_files()
            sweeper.wait_merging_threads()


def _guarded(call: Callable[[], T]) -> T:
    try:
        return call()
    except ERRORS as error:
        raise EngineFailure(error) from error
