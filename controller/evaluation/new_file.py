"""Result files that are written once: whole or not at all, and never over another."""

import os
from pathlib import Path

from ...tools.errors import InputError, StorageError


def check_new(path: Path) -> None:
    """Raise InputError where a file stands at `path` already."""
    if path.exists():
        raise InputError(f"{path} exists; choose another --out or delete it")


def write_new(path: Path, content: str | bytes) -> None:
    """Write `content`, a text as UTF-8, to `path`; on disk when the call returns.

    Raises InputError where a file stands there already, StorageError where the disk refuses.
    """
    check_new(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}; choose another --out") from error
