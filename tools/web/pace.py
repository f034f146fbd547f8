"""One request a second to each host, or as slowly as its robots.txt asks."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import httpx

from ..errors import FetchFailed

_HOSTS: Final = 10_000  # hosts remembered; the one asked longest ago is forgotten first


class Pace:
    """When each host may be asked next. Shared by all runs, whatever thread or event loop they are on.

    `interval` and `patience` are seconds: between two requests to a host, and the longest wait for a turn.
    """

    def __init__(self, interval: float, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = interval
        self._patience = patience
        self._clock = clock
        self._lock = threading.Lock()
        self._next: OrderedDict[str, float] = OrderedDict()
        self._slow: OrderedDict[str, float] = OrderedDict()

    def slow_down(self, host: str, interval: float) -> None:
        """Ask `host` at most once every `interval` seconds; the general interval stays the least."""
        with self._lock:
            self._slow[host] = max(interval, self._interval)
            _forget(self._slow)

    def reserve(self, host: str) -> float:
        """Take the next turn at `host`; returns the seconds until then.

        Raises FetchFailed, taking none, if that is beyond the patience.
        """
        with self._lock:
            now = self._clock()
            wait = max(0.0, self._next.get(host, now) - now)
            if wait > self._patience:
                raise FetchFailed(f"{host} may not be asked again for {wait:.0f} s; try it later")
            self._next[host] = now + wait + self._slow.get(host, self._interval)
            self._next.move_to_end(host)
            _forget(self._next)
            return wait


def _forget(hosts: OrderedDict[str, float]) -> None:
    while len(hosts) > _HOSTS:
        hosts.popitem(last=False)


class PacedTransport(httpx.AsyncBaseTransport):
    """Sends each request when its host's turn comes. Stands below the cache, which answers at once."""

    def __init__(self, below: httpx.AsyncBaseTransport, pace: Pace) -> None:
        self._below = below
        self._pace = pace

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx."""
        await asyncio.sleep(self._pace.reserve(request.url.host))
        return await self._below.handle_async_request(request)
