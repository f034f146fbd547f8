"""What shelves of the cache are filled with, by a clock that a test turns."""

import time

from sufficit.controller.cache.shelf import Shelf
from sufficit.controller.web import Keeper


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


async def keep(shelf: Shelf, clock: Clock, *found, seconds: float = 100) -> None:
    await Keeper(shelf, seconds, clock).keep(found)


async def texts(shelf: Shelf, query: str = "Rhine") -> set[str]:
    return {passage.text for passage in await shelf.search(query, 9)}
