"""The small interface between an index over a folder and the engine that stores its passages."""

from collections.abc import Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from ..types import Passage
from .replacing import Sink


class Reader(Protocol):
    """One commit of one version, opened. Safe to use from many threads until it is closed."""

    @property
    def count(self) -> int:
        """Number of passages."""
        ...

    @property
    def parts(self) -> Mapping[str, int]:
        """What it consists of, counted."""
        ...

    def expired(self, now: float) -> int:
        """Number of passages whose time is over at `now`, in seconds since 1970."""
        ...

    def search(self, query: str, k: int) -> list[Passage]:
        """At most `k` passages, best first, with scores; k ≥ 1 and there is at least one passage."""
        ...

    def close(self) -> None:
        """Give back what the engine holds open."""
        ...


class Engine(Protocol):
    """Stores passages in a folder.

    `errors` are what it raises where the disk or the files fail; a writer translates them itself.
    `executor` runs its searches and writes; None is the event loop's own.
    """

    @property
    def kind(self) -> str:
        """Name of the kind of index, stored in the manifest."""
        ...

    @property
    def made_with(self) -> Mapping[str, str | int]:
        """What decides how an index is read: one made with anything else is refused."""
        ...

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What it raises for a failing disk or damaged files; OSError is one of them."""
        ...

    @property
    def executor(self) -> Executor | None:
        """Threads to run it on."""
        ...

    def create(self, folder: Path) -> None:
        """Make an empty version in an empty folder."""
        ...

    def open(self, folder: Path) -> Reader:
        """Open the last commit of a version."""
        ...

    def writer(self, folder: Path) -> AbstractContextManager[Sink]:
        """One transaction: committed durably at the end, without effect after an error. Needs the lock."""
        ...

    def stamp(self, folder: Path) -> tuple[int, ...]:
        """Identity of the last commit; cheap, for it is asked before every search."""
        ...


class EngineFailure(Exception):
    """What an engine raises out of a transaction, so that it is told from an error of the passages."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
