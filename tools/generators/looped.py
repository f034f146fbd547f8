"""An event loop on a thread of its own: callers on any loop, or on none, share what lives there."""

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for other threads until nobody holds it any longer."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=_forever, args=(self._loop,), name=name, daemon=True).start()
        weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `work()`. A caller that is cancelled cancels it."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), self._loop))

    def wait(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `work()`, for a caller that is no coroutine; the calling thread waits."""
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result()


def _forever(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        loop.run_until_complete(_end_all())
    finally:
        loop.close()


async def _end_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
