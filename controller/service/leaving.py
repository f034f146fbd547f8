"""A client that goes away takes its work along."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from fastapi import Request

T = TypeVar("T")


class ClientGone(Exception):
    """Nobody waits for the response any more."""


async def unless_gone(request: Request, work: Coroutine[None, None, T]) -> T:
    """Do the work; it is cancelled as soon as the client disconnects, or this call is cancelled.

    The request's body must have been read. Raises ClientGone, or whatever the work raises.
    """
    working, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        for task in (working, gone):
            task.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
