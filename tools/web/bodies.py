"""Reading a body within bounds, on what is received and on what it unpacks to.

A gzip body can hold a thousand times its size. It is unpacked piece by piece and never beyond the limit, so
the memory a page takes is bounded however it was made.
"""

import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Protocol, cast

import httpx

from ..errors import FetchFailed

ENCODINGS: Final = "gzip"
"""What is asked for in Accept-Encoding."""


@dataclass(frozen=True, slots=True)
class Body:
    """Unpacked bytes; `truncated` if there were more than the limit, or the compressed body ended early."""

    content: bytes
    truncated: bool


async def read_body(response: httpx.Response, limit: int) -> Body:
    """At most `limit` bytes of the body, received or unpacked, whichever is reached first.

    Raises FetchFailed for an encoding that was not asked for, or that is damaged.
    """
    unpack = _unpacker(response.headers.get("content-encoding", ""))
    content = bytearray()
    received = 0
    async with aclosing(cast(AsyncGenerator[bytes, None], response.aiter_raw())) as chunks:
        async for chunk in chunks:
            received += len(chunk)
            content += unpack.feed(chunk, limit + 1 - len(content))
            if received > limit or len(content) > limit:
                return Body(bytes(content[:limit]), truncated=True)
    return Body(bytes(content), truncated=not unpack.whole)


class _Unpacker(Protocol):
    @property
    def whole(self) -> bool: ...

    def feed(self, data: bytes, most: int) -> bytes: ...


class _Plain:
    whole = True

    def feed(self, data: bytes, most: int) -> bytes:
        return data[:most]


class _Gzip:
    """gzip, of any number of members, and zlib, which some servers send as `deflate`."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._begun = False

    @property
    def whole(self) -> bool:
        """Whether the last member came to its end; a body of nothing has none."""
        return self._member.eof or not self._begun

    def feed(self, data: bytes, most: int) -> bytes:
        self._begun = self._begun or bool(data)
        unpacked = bytearray()
        while data and len(unpacked) < most:
            if self._member.eof:
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 32)
            try:
                unpacked += self._member.decompress(data, most - len(unpacked))
            except zlib.error as error:
                raise FetchFailed(f"the compressed body is damaged: {error}") from error
            data = self._member.unused_data
        return bytes(unpacked)


def _unpacker(encoding: str) -> _Unpacker:
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Gzip()
    raise FetchFailed(f"the body comes encoded as {encoding[:40]!r}, which was not asked for")
