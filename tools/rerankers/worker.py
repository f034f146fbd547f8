"""The one thread on which a reranker runs, so that the event loop never waits for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from ..models.compute import TURN, available_threads

T = TypeVar("T")


class Worker:
    """Runs functions one after the other on a thread of its own, each when it is its model's turn.

    `threads` is torch's thread count for them; None takes what is free.
    """

    def __init__(self, threads: int | None) -> None:
        count = threads or available_threads()
        self._pool = ThreadPoolExecutor(
            max_workers=1, thread_name_prefix="reranker", initializer=lambda: torch.set_num_threads(count)
        )

    async def run(self, function: Callable[[], T]) -> T:
        """The result of `function`, called on the worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, _in_turn, function)

    def wait(self, function: Callable[[], T]) -> T:
        """As `run`, for a thread that may block."""
        return self._pool.submit(_in_turn, function).result()


def _in_turn(function: Callable[[], T]) -> T:
    with TURN:
        return function()
