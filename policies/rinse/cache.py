"""What backbones measured, kept on disk by content hash: a killed fit goes on where it stopped."""

import hashlib
import io
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...tools.errors import StorageError

Arrays = dict[str, NDArray[np.generic]]
Content = str | int | float | Sequence["Content"] | None


def content_key(kind: str, *content: Content) -> str:
    """Hash of everything that a measurement depends on."""
    text = json.dumps([kind, *content], ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


class FeatureCache:
    """Arrays by key in one SQLite file. A value is there whole or not at all; several fits may share a file.

    Raises StorageError where the file cannot be read or written. Use it as a context manager.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(file, timeout=60)
            # A lost last value is measured again; a damaged file is not: WAL keeps it whole at any kill.
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.execute("CREATE TABLE IF NOT EXISTS features (key TEXT PRIMARY KEY, value BLOB)")
        except (OSError, sqlite3.Error) as error:
            raise self._failure(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def get(self, key: str) -> Arrays | None:
        """The arrays of `key`, or None."""
        try:
            with closing(self._database.execute("SELECT value FROM features WHERE key = ?", (key,))) as rows:
                row = rows.fetchone()
        except sqlite3.Error as error:
            raise self._failure(error) from error
        if row is None:
            return None
        with np.load(io.BytesIO(row[0]), allow_pickle=False) as arrays:
            return dict(arrays)

    def put(self, key: str, arrays: Arrays) -> None:
        """Keep `arrays`; on disk when the call returns."""
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        try:
            with self._database:
                self._database.execute(
                    "INSERT OR REPLACE INTO features VALUES (?, ?)", (key, buffer.getvalue())
                )
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> StorageError:
        return StorageError(f"the feature cache {self._file} failed: {error}; free space or delete the file")
