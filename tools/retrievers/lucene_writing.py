"""One transaction of Lucene on one version of an index: all or nothing."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from ..types import Passage, PassageKey
from .engine import EngineFailure
from .java import java_class, java_errors
from .lucene_fields import KEY, SOURCE, expired_by, to_document
from .lucene_search import directory_of, english
from .stored import key_digest, source_digest

_BUFFER: Final = 64.0  # megabytes of postings held before they go to disk as a segment
T = TypeVar("T")


class LuceneWriter:
    """A `Sink`; what is not committed is as if it had never been. Raises EngineFailure. Needs the lock."""

    def __init__(self, folder: Path) -> None:
        self._errors = java_errors()
        self._writer: Any = self._guarded(lambda: _writer(folder))

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
            self._writer.close()
        except self._errors as failure:
            self._discard()
            raise EngineFailure(failure) from failure

    def insert(self, passage: Passage) -> None:
        """Add a passage whose key is not there."""
        self._guarded(lambda: self._writer.addDocument(to_document(passage)))

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
        self._guarded(lambda: self._writer.deleteDocuments(expired_by(now)))

    def _delete(self, field: str, digest: str) -> None:
        term = java_class("org.apache.lucene.index.Term")
        query = java_class("org.apache.lucene.search.TermQuery")
        self._guarded(lambda: self._writer.deleteDocuments(query(term(field, digest))))

    def _discard(self) -> None:
        with suppress(*self._errors):  # a writer that failed may fail again here
            self._writer.rollback()

    def _guarded(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except self._errors as error:
            raise EngineFailure(error) from error


def _writer(folder: Path) -> Any:
    settings = java_class("org.apache.lucene.index.IndexWriterConfig")(english())
    settings.setRAMBufferSizeMB(_BUFFER)
    # Merges on the writing thread: the same passages give the same segments.
    settings.setMergeScheduler(java_class("org.apache.lucene.index.SerialMergeScheduler")())
    settings.setCommitOnClose(False)
    return java_class("org.apache.lucene.index.IndexWriter")(directory_of(folder), settings)
