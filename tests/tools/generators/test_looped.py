import asyncio
import gc
import threading
import time

import pytest
from sufficit.tools.generators.looped import LoopThread


def alive(name: str) -> bool:
    return any(thread.name == name for thread in threading.enumerate())


async def where() -> str:
    return threading.current_thread().name


async def test_callers_on_a_loop_and_on_none() -> None:
    thread = LoopThread("test-loop")
    assert await thread.run(where) == "test-loop"
    assert await asyncio.to_thread(lambda: thread.wait(where)) == "test-loop"


async def test_what_the_work_raises_reaches_the_caller() -> None:
    async def fail() -> None:
        raise ValueError("no")

    thread = LoopThread("test-loop")
    with pytest.raises(ValueError, match="no"):
        await thread.run(fail)


async def test_a_cancelled_caller_cancels_the_work() -> None:
    ended = threading.Event()

    async def endless() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    thread = LoopThread("test-loop")
    task = asyncio.create_task(thread.run(endless))
    await asyncio.sleep(0.05)
    task.cancel()
    assert await asyncio.to_thread(ended.wait, 5)


def test_the_thread_ends_with_its_owner() -> None:
    thread = LoopThread("test-ending")
    thread.wait(where)
    assert alive("test-ending")
    del thread
    gc.collect()
    deadline = time.monotonic() + 5
    while alive("test-ending") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive("test-ending")
