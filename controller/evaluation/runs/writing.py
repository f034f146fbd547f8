"""Files that are written whole or not at all."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ....tools.errors import StorageError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

_PARTIAL = ".partial"


def half_written(path: Path) -> bool:
    """Whether a file is what a killed process had not written whole."""
    return path.name.startswith(".") and path.suffix == _PARTIAL


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file durably and in one step, so that a kill leaves the old one or the new one.

    Raises StorageError where the disk refuses.
    """
    scratch = path.with_name(f".{path.name}.{os.getpid()}{_PARTIAL}")
    with storage_errors(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with scratch.open("wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(path)
        finally:
            scratch.unlink(missing_ok=True)


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Errors of the file system as StorageErrors that name the file."""
    try:
        yield
    except OSError as error:
        next_ = "free space and start the same run again" if error.errno in _FULL else "choose another --out"
        raise StorageError(f"{path} cannot be written: {error.strerror}; {next_}") from error
