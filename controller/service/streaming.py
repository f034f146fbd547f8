"""A run's events as they happen, for responses that begin before the answer is there."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import Request
from fastapi.responses import StreamingResponse

from ..trace import Event, Finished
from .answering import RequestBudget, answered
from .leaving import unless_gone
from .service import Call, Service

KEEP_ALIVE_SECONDS = 15.0


async def begun(
    request: Request, service: Service, call: Call, question: str, budget: RequestBudget | None = None
) -> AsyncIterator[Event | None]:
    """Start to answer, and wait until that has begun; then gives every event, `finished` last.

    None comes where nothing happened for a while, so that the connection can be kept alive. Raises what
    `answered` and `unless_gone` raise, here as long as nothing has happened, later from the iterator.
    """
    queue = asyncio.Queue[Event | Exception]()

    async def run() -> None:
        try:
            await unless_gone(request, answered(service, call, question, budget, queue.put_nowait))
        except Exception as error:
            queue.put_nowait(error)

    running = asyncio.create_task(run())
    try:
        first = await queue.get()
    except asyncio.CancelledError:
        running.cancel()
        raise
    if isinstance(first, Exception):
        raise first
    return _events(first, queue, running)


async def _events(
    first: Event, queue: "asyncio.Queue[Event | Exception]", running: "asyncio.Task[None]"
) -> AsyncIterator[Event | None]:
    event: Event | Exception | None = first
    try:
        while True:
            if isinstance(event, Exception):
                raise event
            yield event
            if isinstance(event, Finished):
                return
            try:
                event = await asyncio.wait_for(queue.get(), KEEP_ALIVE_SECONDS)
            except TimeoutError:
                event = None
    finally:
        running.cancel()


def frame(event: str, data: Any) -> str:
    """One server-sent event."""
    return f"event: {event}\ndata: {data if isinstance(data, str) else json.dumps(data)}\n\n"


def sse_schema(data: str) -> dict[str, Any]:
    """One server-sent event, for OpenAPI; `data` says what its data is."""
    fields = {
        "event": {"type": "string", "description": "the event's kind"},
        "data": {"type": "string", "contentMediaType": "application/json", "description": data},
    }
    return {"type": "object", "properties": fields, "required": ["event", "data"]}


def event_stream(frames: AsyncIterator[str]) -> StreamingResponse:
    """Server-sent events, which nothing on the way may keep or collect."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(frames, media_type="text/event-stream", headers=headers)
