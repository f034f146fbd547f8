"""A small HTTP/1.1 server on loopback with connections that stay open; handlers may do anything to them."""

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sufficit.tools.generators.looped import LoopThread

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    def raw(self) -> bytes:
        named = {"content-type": "application/json"} | self.headers | {"content-length": str(len(self.body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        return f"HTTP/1.1 {self.status} X\r\n{head}\r\n".encode() + self.body


def reply(body: Any, status: int = 200, **headers: str) -> Response:
    return Response(status, json.dumps(body).encode(), {k.replace("_", "-"): v for k, v in headers.items()})


def refusal(message: str, status: int = 400) -> Response:
    return reply({"error": {"message": message, "code": status}}, status)


@dataclass
class Connection:
    """What a handler may do instead of answering."""

    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """End with RST, as a process that dies does."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Handler = Callable[[Request, Connection], Awaitable[Response | None]]
"""None: the handler has dealt with the connection, which is then closed."""


@dataclass
class HttpServer:
    """A handler whose client has gone is cancelled. `connections` counts them; `requests` lists what came."""

    handler: Handler
    connections: int = 0
    requests: list[Request] = field(default_factory=list)
    _server: asyncio.Server | None = None
    _open: set[asyncio.Task] = field(default_factory=set)

    async def __aenter__(self) -> "HttpServer":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**24, backlog=512)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        self._open.add(task)
        try:
            while request := await _read(reader):
                self.requests.append(request)
                response = await self._handled(request, reader, writer)
                if response is None:
                    break
                writer.write(response.raw())
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()

    async def _handled(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Response | None:
        work = asyncio.ensure_future(self.handler(request, Connection(writer)))
        gone = asyncio.ensure_future(reader.read(1))  # no client of ours sends before it is answered
        try:
            done, _ = await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            return work.result() if work in done else None
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ")
    return Request(method, path, headers, body)


@contextmanager
def elsewhere(served: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """The server on an event loop of its own, for a client that waits for it."""
    thread = LoopThread("test-server")
    entered = thread.wait(served.__aenter__)
    try:
        yield entered
    finally:
        thread.wait(lambda: served.__aexit__(None, None, None))
