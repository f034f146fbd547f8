"""All scopes' shelves in one folder, each in a folder named by its scope's digest."""

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from ...tools.errors import IndexLocked, InputError
from .freeing import free, remove_freed
from .shelf import Shelf

_OPEN: Final = 256
"""Shelves that are kept open; others are opened again when they are asked for."""

_NAME: Final = re.compile(r"[0-9a-f]{40}")


class Shelves:
    """Gives every scope its shelf. Not for use by several threads at once."""

    def __init__(self, folder: Path, most: int, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._most = most
        self._clock = clock
        self._open: OrderedDict[str, Shelf] = OrderedDict()
        self._swept = ""

    def of(self, scope: str) -> Shelf:
        """The scope's shelf; nothing is made on the disk."""
        if scope not in self._open:
            self._open[scope] = Shelf(self._folder / _name(scope), scope, self._clock)
        self._open.move_to_end(scope)
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        return self._open[scope]

    def check_room(self, scope: str) -> None:
        """Raise InputError if the scope holds nothing yet and there are as many scopes as there may be."""
        if not self.of(scope).exists and len(self._names()) >= self._most:
            raise InputError(
                f"the cache holds passages of {self._most} scopes, which is cache.scopes; "
                "use one of these, or raise it"
            )

    def sweep(self, most: int) -> int:
        """Delete expired passages of the next `most` scopes, in turn; returns how many. Blocking.

        A scope without passages is freed. One that another process is writing to is left for the next turn:
        that write deletes them as well. Raises StorageError.
        """
        remove_freed(self._folder)
        names = self._names()
        later = [name for name in names if name > self._swept]
        swept = 0
        for name in [*later, *names[: len(names) - len(later)]][:most]:
            # Only deletes: it need not know whose shelf this is.
            with suppress(IndexLocked):
                swept += Shelf(self._folder / name, "", self._clock).sweep()
                free(self._folder / name)
            self._swept = name
        return swept

    def _names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        folders = (entry.name for entry in self._folder.iterdir() if entry.is_dir())
        return sorted(name for name in folders if _NAME.fullmatch(name))


def _name(scope: str) -> str:
    """A folder's name that no scope can choose and no two share."""
    return blake2b(scope.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
