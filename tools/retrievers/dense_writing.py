"""One transaction on a dense index: all or nothing."""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from ..rerankers.biencoder import BiEncoderReranker
from ..types import Passage, PassageKey
from .analysis import analyze
from .dense_storage import (
    ERRORS,
    FLAT_LIMIT,
    connect,
    inverted_file,
    numbers,
    rows_after,
    write_inverted_file,
)
from .encoded import EncodedTexts
from .engine import EngineFailure
from .expiry import expiry
from .spelling import encodable
from .stored import key_digest, source_digest, to_payload

_BATCH: Final = 512  # passages that are encoded together, so that texts of one length meet
_GROWTH: Final = 1.5  # the inverted file is made anew when there are so many times its vectors
T = TypeVar("T")


class DenseWriter:
    """A `Sink`; what is not committed is as if it had never been. Raises EngineFailure. Needs the write lock.

    Passages are encoded as they come in; what was encoded is kept beside the index until a commit.
    """

    def __init__(self, folder: Path, encoder: BiEncoderReranker, prompt: str, known: frozenset[str]) -> None:
        """`known` are the terms that the encoder knows as words."""
        self._folder = folder
        self._width = encoder.width
        self._prompt = prompt
        self._known = known
        self._encoded = EncodedTexts(folder.parent, encoder)
        self._waiting: list[tuple[int, str]] = []  # numbers of passages without vectors, and their texts
        self._database = self._guarded(lambda: connect(folder))
        self._guarded(lambda: self._database.execute("BEGIN IMMEDIATE"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, or, after an error, leave the index as it was."""
        try:
            if kind is None:
                self._encode()
                self._guarded(self._finish)
        finally:
            with suppress(sqlite3.Error):
                self._database.close()  # takes back what is not committed

    def insert(self, passage: Passage) -> None:
        """Add a passage whose key is not there."""
        digests = (key_digest(passage.key), source_digest(passage.source))
        row = (*digests, to_payload(passage), expiry(passage))
        added = self._execute("INSERT INTO passages (key, source, payload, expires) VALUES (?, ?, ?, ?)", row)
        number = int(added.lastrowid or 0)
        text = f"{passage.title}\n{passage.text}" if passage.title else passage.text
        for term in set(analyze(text)) - self._known:
            self._execute("INSERT INTO unknown_terms (term, passage) VALUES (?, ?)", (term, number))
        self._waiting.append((number, encodable(self._prompt + text)))
        if len(self._waiting) >= _BATCH:
            self._encode()

    def delete_keys(self, keys: Iterable[PassageKey]) -> None:
        """Delete the passages with these keys, as far as there are any."""
        for key in keys:
            self._execute("DELETE FROM passages WHERE key = ?", (key_digest(key),))

    def delete_sources(self, sources: Iterable[str]) -> None:
        """Delete all passages of these sources."""
        for source in sources:
            self._execute("DELETE FROM passages WHERE source = ?", (source_digest(source),))

    def delete_expired(self, now: float) -> None:
        """Delete the passages whose time is over."""
        self._execute("DELETE FROM passages WHERE expires <= ?", (now,))

    def _encode(self) -> None:
        """Give the passages that wait their vectors, unless they are deleted again."""
        waiting, self._waiting = self._waiting, []
        encoded = self._guarded(lambda: self._encoded.embed([text for _, text in waiting]))
        insert = "INSERT INTO vectors (passage, vector) SELECT id, ? FROM passages WHERE id = ?"
        for (number, _), windows in zip(waiting, encoded, strict=True):
            for row in windows:
                self._execute(insert, (row.tobytes(), number))

    def _finish(self) -> None:
        self._database.execute("COMMIT")
        self._encoded.forget()
        count = int(self._database.execute("SELECT count(*) FROM vectors").fetchone()[0])
        if count <= FLAT_LIMIT:
            return
        made = inverted_file(self._folder)
        if made is None or count > _GROWTH * made[0].ntotal:
            ids = numbers(self._database)[:, 0].copy()
            write_inverted_file(self._folder, rows_after(self._database, 0, self._width), ids)

    def _execute(self, statement: str, values: tuple[str | bytes | float | None, ...]) -> sqlite3.Cursor:
        return self._guarded(lambda: self._database.execute(statement, values))

    def _guarded(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except ERRORS as error:
            raise EngineFailure(error) from error
