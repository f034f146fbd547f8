"""vLLM's engine on a thread of its own: requests join and leave the running batch between its steps."""

import asyncio
import itertools
import queue
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from ..errors import ToolError
from ..models.compute import TURN


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    id: str
    prompt: Any
    params: Any
    result: "Future[Any]"


class Engine:
    """Callers may come from any event loop; the engine is touched by the thread alone."""

    def __init__(self, engine: Any) -> None:
        self._arrived: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._ids = map(str, itertools.count())
        serving = _Serving(engine, self._arrived)
        threading.Thread(target=serving.run, name="generator-vllm", daemon=True).start()
        weakref.finalize(self, self._arrived.put, None)

    async def run(self, requests: Sequence[tuple[Any, Any]]) -> list[Any]:
        """The outputs of (prompt, parameters), in order. A caller that is cancelled frees their places.

        Raises ToolError around whatever the engine raises.
        """
        waiting = [_Request(next(self._ids), *request, Future()) for request in requests]
        for request in waiting:
            self._arrived.put(request)
        try:
            return list(await asyncio.gather(*(asyncio.wrap_future(one.result) for one in waiting)))
        finally:
            for one in waiting:
                one.result.cancel()


class _Serving:
    """The thread's side. It holds no reference to its `Engine`, whose end is its own."""

    def __init__(self, engine: Any, arrived: "queue.SimpleQueue[_Request | None]") -> None:
        self._engine = engine
        self._arrived = arrived
        self._running: dict[str, _Request] = {}

    def run(self) -> None:
        """Until None arrives."""
        while self._admit():
            try:
                self._free()
                with TURN:
                    outputs = self._engine.step() if self._engine.has_unfinished_requests() else []
            except Exception as error:  # the engine raises anything; the callers must hear of it
                self._fail_all(error)
                continue
            for output in outputs:
                if output.finished and (request := self._running.pop(output.request_id, None)):
                    _settle(request, output)

    def _admit(self) -> bool:
        """Take in what has arrived, waiting for something if nothing runs; False at the end."""
        try:
            while True:
                request = self._arrived.get(block=not self._running)
                if request is None:
                    return False
                self._add(request)
        except queue.Empty:
            return True

    def _add(self, request: _Request) -> None:
        if request.result.cancelled():
            return
        try:
            self._engine.add_request(request.id, request.prompt, request.params)
        except Exception as error:  # a request that it refuses concerns its caller alone
            _fail(request, error)
        else:
            self._running[request.id] = request

    def _free(self) -> None:
        cancelled = [id_ for id_, request in self._running.items() if request.result.cancelled()]
        if cancelled:
            self._engine.abort_request(cancelled)
            for id_ in cancelled:
                del self._running[id_]

    def _fail_all(self, error: Exception) -> None:
        for request in self._running.values():
            _fail(request, error)
        self._running.clear()


def _settle(request: _Request, output: Any) -> None:
    if request.result.set_running_or_notify_cancel():
        request.result.set_result(output)


def _fail(request: _Request, error: Exception) -> None:
    if request.result.set_running_or_notify_cancel():
        failure = ToolError(f"vLLM failed: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
        failure.__cause__ = error
        request.result.set_exception(failure)
