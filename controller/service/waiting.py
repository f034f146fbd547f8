"""The bounded queue: so many requests are worked on at once, so many wait, and the next is sent away."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .errors import Refused

LONGEST_ADVICE = 120.0  # seconds; whoever is told to come back later than that does not come back
WEIGHT = 0.2  # of the newest request in the running mean of how long one takes


class WaitingRoom:
    """First come, first served. `concurrent` requests are under way, `places` wait."""

    def __init__(self, concurrent: int, places: int) -> None:
        self._concurrent = concurrent
        self._places = places
        self._turns = asyncio.Semaphore(concurrent)
        self._mean_seconds = 1.0
        self.waiting = 0
        self.working = 0

    @asynccontextmanager
    async def turn(self, seconds: float) -> AsyncIterator[float]:
        """Wait for a turn, at most `seconds`, and hold it; yields the seconds that are left then.

        Raises Refused 429 where all places are taken, 504 where the deadline passes before the turn comes.
        """
        arrived = time.monotonic()
        await self._wait(seconds)
        began = time.monotonic()
        self.working += 1
        try:
            yield seconds - (began - arrived)
        finally:
            self.working -= 1
            self._turns.release()
            self._mean_seconds += WEIGHT * (time.monotonic() - began - self._mean_seconds)

    async def _wait(self, seconds: float) -> None:
        if self._turns.locked() and self.waiting >= self._places:
            message = f"{self.working} requests are under way and {self.waiting} wait; try again later"
            raise Refused(429, "queue_full", message, retry_after=self._advice())
        self.waiting += 1
        try:
            async with asyncio.timeout(seconds):
                await self._turns.acquire()
        except TimeoutError:
            message = f"the deadline of {seconds:g} seconds passed before the request's turn came"
            raise Refused(504, "deadline", message, retry_after=self._advice()) from None
        finally:
            self.waiting -= 1

    def _advice(self) -> float:
        """Seconds until a place is free, by how long requests took of late."""
        ahead = self._mean_seconds * (self.waiting + 1) / self._concurrent
        return min(LONGEST_ADVICE, max(1.0, ahead))
