"""The HTTP cache on disk (RFC 9111, as a shared cache). One that cannot be used costs a line, and no page."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx
from hishel import AsyncSqliteStorage, CacheOptions
from hishel.httpx import AsyncCacheTransport

_MOST: Final = 100  # different faults that are told


@asynccontextmanager
async def cached(
    transport: httpx.AsyncBaseTransport, file: Path, page_bytes: int, cache_bytes: int
) -> AsyncIterator[httpx.AsyncBaseTransport]:
    """`transport` over the cache in `file`, of at most `cache_bytes`; pages over `page_bytes` pass by."""
    storage = AsyncSqliteStorage(database_path=file, max_stream_size=page_bytes, max_size=cache_bytes)
    try:
        yield AsyncCacheTransport(transport, storage, rfc=CacheOptions(shared=True))
    finally:
        await storage.close()


class _OneLine(logging.Filter):
    """What hishel logs with a traceback at every request, told in one line, and once."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to tell it."""
        if record.exc_info is None or record.exc_info[1] is None:
            return True
        fault = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        if fault in self._told or len(self._told) >= _MOST:
            return False
        self._told.add(fault)
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.msg = (
            "The HTTP cache fails (%s); pages are fetched without it. Delete the folder `web` in sufficit's "
            "cache folder, or set web.fetch.cache_bytes = 0."
        )
        record.args, record.exc_info, record.exc_text = (fault,), None, None
        return True


logging.getLogger(AsyncSqliteStorage.__module__).addFilter(_OneLine())
