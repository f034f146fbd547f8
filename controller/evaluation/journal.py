"""A file of JSON lines that grows: a header, then rows. What is in it when a run is killed is whole."""

import fcntl
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ...tools.errors import InputError, StorageError

Row = Mapping[str, Any]


def read_journal(path: Path) -> tuple[Row, list[Row]]:
    """Header and rows. A last line that a kill cut short is left out; one that only lacks its newline is not.

    Raises InputError naming the line that cannot be read.
    """
    try:
        *lines, last = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    return _parsed(path, [*lines, last] if _is_row(last) else lines)


def _is_row(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _parsed(path: Path, lines: Sequence[bytes]) -> tuple[Row, list[Row]]:
    rows: list[Row] = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: not JSON; the file is damaged") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: not a JSON object")
        rows.append(row)
    if not rows:
        raise InputError(f"{path} holds no whole line: nothing is recorded in it")
    return rows[0], rows[1:]


class Journal:
    """A journal open for writing. Rows that an earlier run with the same header wrote are in `rows`.

    It is one process's at a time; the system frees it when that process ends, however it ends. Raises
    InputError where the file has another header or another process is writing it, StorageError where the disk
    refuses. Use it as a context manager.
    """

    def __init__(self, path: Path, header: Row) -> None:
        self._path = path
        self.rows: list[Row] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = FileIO(path, "ab+")
        except OSError as error:
            raise self._failure(error) from error
        try:
            self._lock()
            self._resume(header)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        """Hold the file itself, so that no lock file is left beside it."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                f"another process is writing {self._path}; wait until it is done, or choose another --out"
            ) from error
        except OSError as error:
            raise self._failure(error) from error

    def _resume(self, header: Row) -> None:
        """Take up the lines that have ended; a file that another run wrote is left as it is."""
        self._file.seek(0)
        text = self._file.read()
        whole, ended, _ = text.rpartition(b"\n")
        if not ended and journal_line(header).startswith(text):
            self._file.truncate(0)
            self.append([header])
            return
        found, self.rows = _parsed(self._path, text.split(b"\n")[:-1])
        if found != json.loads(journal_line(header)):
            keys = sorted(key for key in found.keys() | header.keys() if found.get(key) != header.get(key))
            raise InputError(
                f"{self._path} was written by another run: {', '.join(keys)} differ; choose another --out"
            )
        self._file.truncate(len(whole) + 1)

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows; on disk when the call returns."""
        try:
            write_through(self._file, b"".join(map(journal_line, rows)))
        except OSError as error:
            raise self._failure(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; nothing more can be added."""
        self._file.close()

    def _failure(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self._path} cannot be written: {error.strerror}; free space or choose another --out"
        )


def write_through(file: FileIO, data: bytes) -> None:
    """Write all of `data`; on disk when the call returns. Raises OSError, and then keeps nothing back."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
    os.fsync(file.fileno())


def journal_line(row: Row) -> bytes:
    """A row, or the header, as it stands in the file. Raises ValueError for a number that is not finite."""
    return (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "surrogatepass")
