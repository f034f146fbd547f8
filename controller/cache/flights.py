"""Single flight: work for the same need that is wanted at the same time is done once."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
_REMEMBERED: Final = 4096
"""Landed flights that are remembered for those who set out before they landed."""


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


class Flights(Generic[T]):
    """Shares work by key. Belongs to one event loop.

    Work goes on while anybody waits for it, and is cancelled when the last one has gone.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._flying: dict[Hashable, _Flight[T]] = {}
        self._landed: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def now(self) -> float:
        """The time by which `since` of `share` is measured."""
        return self._clock()

    async def share(
        self, key: Hashable, since: float, work: Callable[[], Coroutine[Any, Any, T]]
    ) -> tuple[T, bool]:
        """The result of `work`, and whether another call did it: one under way, or done after `since`.

        Raises what the work raises.
        """
        landed = self._landed.get(key)
        if landed is not None and landed[0] > since:
            return landed[1], True
        flight = self._flying.get(key)
        shared = flight is not None
        if flight is None:
            flight = self._flying[key] = _Flight(asyncio.create_task(work()))
            flight.task.add_done_callback(lambda task: self._land(key, task))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), shared
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                flight.task.cancel()
                self._leave(key, flight.task)

    def _land(self, key: Hashable, task: asyncio.Task[T]) -> None:
        self._leave(key, task)
        # Asking for the exception says that it was seen: whoever waited has raised it.
        if not task.cancelled() and task.exception() is None:
            self._landed[key] = (self._clock(), task.result())
            self._landed.move_to_end(key)
            if len(self._landed) > _REMEMBERED:
                self._landed.popitem(last=False)

    def _leave(self, key: Hashable, task: asyncio.Task[T]) -> None:
        flight = self._flying.get(key)
        if flight is not None and flight.task is task:
            del self._flying[key]
