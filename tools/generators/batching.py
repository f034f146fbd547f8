"""Gathering concurrent callers: one worker thread, which runs together what is waiting together.

Callers may sit on any event loop. A caller that is cancelled frees its rows: those that wait are never run,
those that run are asked between steps.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..errors import SufficitError, ToolError
from ..models.compute import TURN

GATHER_SECONDS = 0.003
"""How long the worker waits for companions of a row; a decoding step takes twenty times as long."""

T = TypeVar("T")
R = TypeVar("R")

Cancelled = Callable[[], bool]
"""Whether nobody waits for a row any longer."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind(Generic[T, R]):
    """One kind of work on rows.

    `choose` gives the indices of the waiting rows that run with the first of them; `run` does them, with one
    result a row, and may return anything for a row that was cancelled.
    """

    choose: Callable[[Sequence[T]], Sequence[int]]
    run: Callable[[Sequence[T], Sequence[Cancelled]], Sequence[R]]


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    kind: Kind[Any, Any]
    row: Any
    result: "Future[Any]"


class Batcher:
    """Runs rows in batches on a thread of its own; `start` is called once on that thread."""

    def __init__(self, start: Callable[[], None]) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="generator", initializer=start)
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []
        self._draining = False

    async def submit(self, kind: Kind[T, R], rows: Sequence[T]) -> list[R]:
        """The results of `rows`, in order. Raises what `kind.run` raised, or ToolError around it."""
        waiting = [_Waiting(kind, row, Future()) for row in rows]
        with self._lock:
            self._waiting.extend(waiting)
            if not self._draining and waiting:
                self._draining = True
                self._executor.submit(self._drain)
        try:
            return list(await asyncio.gather(*(asyncio.wrap_future(one.result) for one in waiting)))
        finally:
            for one in waiting:
                one.result.cancel()

    def _drain(self) -> None:
        time.sleep(GATHER_SECONDS)
        while batch := self._take():
            self._run(batch)

    def _take(self) -> list[_Waiting]:
        """The next batch: the row that has waited longest and whatever goes with it."""
        with self._lock:
            self._waiting = [one for one in self._waiting if not one.result.cancelled()]
            if not self._waiting:
                self._draining = False
                return []
            kind = self._waiting[0].kind
            same = [one for one in self._waiting if one.kind is kind]
        chosen = [same[index] for index in kind.choose([one.row for one in same])]
        with self._lock:
            taken = set(map(id, chosen))
            self._waiting = [one for one in self._waiting if id(one) not in taken]
        return chosen

    def _run(self, batch: list[_Waiting]) -> None:
        try:
            rows = [one.row for one in batch]
            with TURN:
                results = batch[0].kind.run(rows, [one.result.cancelled for one in batch])
        except SufficitError as error:
            self._fail(batch, error)
        except Exception as error:  # torch raises anything; the callers must hear of it
            failure = ToolError(f"the generator failed: {type(error).__name__}: {error}")
            failure.__cause__ = error
            self._fail(batch, failure)
        else:
            for one, result in zip(batch, results, strict=True):
                if one.result.set_running_or_notify_cancel():
                    one.result.set_result(result)

    @staticmethod
    def _fail(batch: list[_Waiting], error: Exception) -> None:
        for one in batch:
            if one.result.set_running_or_notify_cancel():
                one.result.set_exception(error)
