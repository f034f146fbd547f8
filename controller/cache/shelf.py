"""One scope's passages, and the questions that they were kept for, in a folder of its own.

    DIR/index/        passages, which are deleted at every write and sweep once their time is over
    DIR/needs/        questions, each with the passages that a fetch for it brought

What one scope holds cannot be found in another's folder; every passage also names its scope, and one that
names another is not served.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ...policies.kept_for import KeptSet
from ...tools.retrievers.expiry import EXPIRES, FETCHED, KEPT, expiry
from ...tools.types import Passage, PassageKey
from .drawer import Drawer

SCOPE: Final = "scope"
"""Metadata of kept passages: whose they are."""

LOCK: Final = "scopes.lock"
"""In the folder of all scopes."""

_PASSAGES: Final = "passages"
"""Metadata of a kept question: source, id and hash of every passage that its fetch brought."""


class Shelf:
    """Holds and finds one scope's passages. Safe to share between tasks and threads, and between processes.

    Nothing is on the disk until the first passages come. `clock` gives seconds since 1970.
    """

    def __init__(self, folder: Path, scope: str, clock: Callable[[], float]) -> None:
        lock = folder.parent / LOCK
        self._index = Drawer(folder / "index", lock)
        self._needs = Drawer(folder / "needs", lock)
        self._scope = scope
        self._clock = clock

    @property
    def exists(self) -> bool:
        """Whether anything is kept here."""
        return self._index.exists

    async def search(self, question: str, k: int) -> list[Passage]:
        """At most `k` passages of this scope that have not expired, best first. Raises StorageError."""
        return self._ours(await self._index.search(question, k, self._clock))

    async def kept(self, question: str, k: int) -> list[KeptSet]:
        """What is held whole of what was kept for the question, and for the `k` likest by BM25.

        A set is held whole where each of its passages is there with the same text and its time is not over,
        whichever fetch brought it last. Raises StorageError.
        """
        found = []
        own = await self._needs.held([_need(question)])
        others = [
            need for need in await self._needs.search(question, k, self._clock) if need.text != question
        ]
        for need in self._ours([*self.fresh(own), *others]):
            marks = {tuple(mark) for mark in json.loads(str(need.metadata[_PASSAGES]))}
            keys = [PassageKey(source, id_) for source, id_, _ in sorted(marks)]
            held = self.fresh(self._ours(await self._index.held(keys)))
            if {_mark(passage) for passage in held} == marks:
                found.append(KeptSet(need.text, tuple(sorted(held, key=lambda p: p.key))))
        return found

    def fresh(self, passages: Sequence[Passage]) -> list[Passage]:
        """Those whose time is not over by now; a passage without an expiry was never kept, and is none."""
        now = self._clock()
        return [passage for passage in passages if (expiry(passage) or 0) > now]

    def replace(self, passages: Iterable[Passage]) -> None:
        """See Documents. Durable when it returns, all of them or none. Blocking.

        Raises IndexLocked, StorageError.
        """
        self._index.replace(
            [replace(p, metadata={**p.metadata, SCOPE: self._scope}) for p in passages]
        )  # fmt: skip

    def remember(self, question: str, passages: Sequence[Passage], seconds: float) -> None:
        """Note for so long that a fetch for the question brought these; in the place of its last. Blocking.

        Raises IndexLocked, StorageError.
        """
        now = self._clock()
        known: dict[str, str | int | float] = {
            SCOPE: self._scope,
            FETCHED: round(now),
            EXPIRES: round(now + seconds),
            _PASSAGES: json.dumps(sorted({_mark(passage) for passage in passages})),
        }
        key = _need(question)
        self._needs.replace([Passage(key.id, question, source=key.source, metadata=known)])

    def sweep(self) -> int:
        """Delete the passages whose time is over; returns how many. Blocking. Raises as `replace`."""
        self._needs.sweep()
        return self._index.sweep()

    def _ours(self, passages: Iterable[Passage]) -> list[Passage]:
        return [passage for passage in passages if passage.metadata.get(SCOPE) == self._scope]


def _need(question: str) -> PassageKey:
    return PassageKey(f"{KEPT}{question}", "")


def _mark(passage: Passage) -> tuple[str, str, str]:
    """A passage with its text: judged on another text, it may not serve."""
    text = f"{passage.title}\0{passage.text}".encode("utf-8", "surrogatepass")
    return passage.source, passage.id, hashlib.blake2b(text, digest_size=12).hexdigest()
