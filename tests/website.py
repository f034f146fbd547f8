"""A web site on loopback that can misbehave in every way, and a resolver that says what the test wants."""

import asyncio
import functools
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from sufficit.tools.web import build
from sufficit.tools.web.address import Address
from sufficit.tools.web.settings import WebSettings
from sufficit.tools.web.toolbox import WebTools

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]


Handler = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


def article(*paragraphs: str, title: str = "A page", head: str = "") -> str:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    shown = f"<body><article>{body}</article></body>"
    return f"<!doctype html><html><head><title>{title}</title>{head}</head>{shown}</html>"


@dataclass
class Site:
    """Serves `routes`; `requests` lists what came, `connections` counts them. 404 for all else."""

    routes: dict[str, Handler] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    tls: ssl.SSLContext | None = None
    _server: asyncio.Server | None = None
    _open: set[asyncio.Task] = field(default_factory=set)

    async def __aenter__(self) -> "Site":
        self._server = await asyncio.start_server(self._connected, LOOPBACK, 0, ssl=self.tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    @property
    def port(self) -> int:
        return self._server.sockets[0].getsockname()[1]

    def url(self, path: str = "/", host: str = LOOPBACK) -> str:
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}{path}"

    def paths(self, but_robots: bool = True) -> list[str]:
        return [r.path for r in self.requests if not (but_robots and r.path == "/robots.txt")]

    def serve(self, path: str, body: str | bytes = b"", status: int = 200, **headers: str) -> None:
        """Answer `path`; underscores in header names are hyphens."""
        content = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named = {"content-type": "text/html; charset=utf-8"} | named

        async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
            start(writer, status, **named | {"content-length": str(len(content))})
            writer.write(content)

        self.routes[path] = answer

    def redirect(self, path: str, location: str, status: int = 302) -> None:
        self.serve(path, status=status, location=location)

    def route(self, path: str) -> Callable[[Handler], Handler]:
        return lambda handler: self.routes.setdefault(path, handler)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        self._open.add(task)
        try:
            request = await _read(reader)
            self.requests.append(request)
            handler = self.routes.get(request.path.partition("?")[0], _missing)
            await handler(request, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()


def start(writer: asyncio.StreamWriter, status: int = 200, **headers: str) -> None:
    lines = [f"HTTP/1.1 {status} X", *(f"{n}: {v}" for n, v in headers.items()), "connection: close", "", ""]
    writer.write("\r\n".join(lines).encode("latin-1"))


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    return Request(first.split(" ")[1], {name.lower(): value for name, _, value in pairs})


async def _missing(request: Request, writer: asyncio.StreamWriter) -> None:
    start(writer, 404, **{"content-length": "0"})


@dataclass
class Names:
    """A resolver: each name's answers in turn, the last one for ever. Unknown names do not exist."""

    answers: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> list[Address]:
        self.asked.append(host)
        turns = self.answers.get(host)
        if turns is None:
            raise OSError("no such name")
        now = turns.pop(0) if len(turns) > 1 else turns[0]
        return [ip_address(text) for text in now]


def settings(site: Site | None = None, **sections: dict) -> WebSettings:
    """The web as the tests may reach it: loopback and the one port of the site, without waits."""
    reach = {"networks": [f"{LOOPBACK}/32"], "ports": [site.port]} if site else {}
    given = {
        "search": {"engine": "urls", "urls": ["http://unused.example/"]},
        "reach": reach,
        "fetch": {"interval_seconds": 0, "backoff_seconds": 0, "seconds": 10, "cache_bytes": 0},
    }
    for section, values in sections.items():
        given[section] = {**given.get(section, {}), **values} if isinstance(values, dict) else values
    return WebSettings.model_validate(given)


# Loading the public authorities takes longer than most tests.
build.trust = functools.cache(build.trust)


def web(chosen: WebSettings, names: Names | None = None, cache: Path = Path("unused")) -> WebTools:
    return build.build_web(chosen, cache, names or Names())
