"""Gives back the room of a scope that holds no passage any more."""

import secrets
import shutil
from pathlib import Path
from typing import Final

from ...tools.errors import IndexMissing, StorageError
from ...tools.retrievers.embedded import EmbeddedIndex
from ...tools.retrievers.layout import manifest_path, write_lock
from .drawer import alone
from .shelf import LOCK

_FREED: Final = ".freed-"
"""Before the name of a folder that is being deleted."""

_PATIENCE: Final = 1.0  # seconds


def free(folder: Path) -> bool:
    """Delete a scope's folder if there is no passage in it; whether it was. Blocking.

    The folder gets another name in one step before it is deleted, so that whoever comes by, also after a
    kill, finds all of it or none. No index is made and no passage written meanwhile; who searches finds
    nothing, and who wants to write makes the index anew. Raises IndexLocked where somebody writes to it,
    StorageError where the disk refuses.
    """
    index = folder / "index"
    if not _empty(index):  # seen without a lock, so that nobody waits for a scope that stays
        return False
    with alone(folder.parent / LOCK, _PATIENCE):
        if not manifest_path(index).exists():  # made by half, before a kill
            return _removed(folder)
        with write_lock(index):
            return _empty(index) and _removed(folder)


def _empty(index: Path) -> bool:
    """Whether there is no passage; an index made by half has none. Raises StorageError."""
    try:
        EmbeddedIndex.open(index)
    except IndexMissing:
        return True
    return False


def remove_freed(folder: Path) -> None:
    """Delete what kills left of freed scopes in the folder of all scopes."""
    for left in folder.glob(f"{_FREED}*"):
        shutil.rmtree(left, ignore_errors=True)


def _removed(folder: Path) -> bool:
    gone = folder.with_name(f"{_FREED}{folder.name}-{secrets.token_hex(4)}")
    try:
        folder.rename(gone)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageError(f"{folder} cannot be freed: {error.strerror}") from error
    shutil.rmtree(gone, ignore_errors=True)
    return True
