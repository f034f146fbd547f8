"""The one thread on which a local model runs, so that the event loop never waits for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

T = TypeVar("T")


class Worker:
    """Runs functions one after the other on a thread of its own.

    `threads` is torch's thread count, which holds for the whole process; None leaves it as it is.
    """

    def __init__(self, threads: int | None) -> None:
        if threads is not None:
            torch.set_num_threads(threads)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reranker")

    async def run(self, function: Callable[[], T]) -> T:
        """The result of `function`, called on the worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function)
