"""Passages of a page, read by a process of its own with a hard deadline.

A page can be written to keep a parser busy for minutes, to fill the memory or to crash it. None of that
happens here: the reading process is killed at the deadline, limited in memory, and replaced when it dies and
after some hundred pages.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

import httpx

from ..errors import ExtractFailed
from ..retrievers.corpora.document import Document, usable
from ..types import Page, Passage
from .settings import ExtractSettings
from .urls import origin
from .worker import read_frame, write_frame

if TYPE_CHECKING:  # it loads the parsers, which only the reading process needs
    from .reading import Reading

_START: Final = 120.0  # seconds until a reader is ready: on a busy machine imports take their time
_LONGEST: Final = 32_000_000  # bytes of a reading
_TITLE: Final = 300  # characters
# What a reader needs to start. Keys and tokens in the environment are no business of a hostile page.
_ENVIRONMENT: Final = (
    *("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT"),
    *("HOME", "TMPDIR", "TEMP", "LANG", "LC_ALL"),
)


class PageReader:
    """The Extractor of the open web: a few reading processes, each with the thread that waits for it."""

    def __init__(self, settings: ExtractSettings) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(settings.processes, thread_name_prefix="page-reader")
        self._mine = threading.local()
        self._processes: list[_Process] = []
        weakref.finalize(self, _kill, self._processes)

    async def extract(self, page: Page) -> list[Passage]:
        """Passages of about 100 words with their offsets in the page's text; [] if it says nothing.

        Metadata holds `date`, `language` and `charset` where known, and `truncated` = 1 if the page was not
        read to its end. Raises ExtractFailed.
        """
        loop = asyncio.get_running_loop()
        return passages(page, await loop.run_in_executor(self._threads, self._read, page))

    def close(self) -> None:
        """End the reading processes. They end with this object too, and with the program."""
        self._threads.shutdown()
        _kill(self._processes)

    def _read(self, page: Page) -> "Reading":
        """On one of the threads; each has a process of its own."""
        process: _Process | None = getattr(self._mine, "process", None)
        if process is None or not process.usable(self._settings.pages_per_process):
            if process is not None:
                process.kill()
                self._processes.remove(process)
            process = self._mine.process = _Process()
            self._processes.append(process)
        return process.read(page, self._settings)


class _Process:
    """One reading process. Not for two threads at once."""

    def __init__(self) -> None:
        # -P: the folder that the program was started in is not searched for modules.
        command = [sys.executable, "-P", "-m", f"{__package__}.worker"]
        pipe = subprocess.PIPE
        kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=kept
        )
        self._pages = 0
        self._ready = False

    def usable(self, pages: int) -> bool:
        return self._process.poll() is None and self._pages < pages

    def read(self, page: Page, settings: ExtractSettings) -> "Reading":
        if not self._ready:
            self._answer(_START, f"pages cannot be read; see: {sys.executable} -m {__package__}.worker")
            self._ready = True
        self._pages += 1
        asked = {
            "kind": page.kind,
            "charset": page.charset,
            "url": page.url,
            "limit": settings.page_bytes,
            "seconds": round(settings.seconds) + 5,
        }
        # What the reader would cut off need not be sent; one byte more tells it that there was some.
        content = page.content if page.kind == "pdf" else page.content[: settings.page_bytes + 1]
        late = f"{page.url} could not be read within {settings.seconds:g} s"
        answer = self._answer(settings.seconds, late, asked, content)
        if "error" in answer:
            raise ExtractFailed(f"{page.url}: {answer['error']}")
        return cast("Reading", answer["reading"])

    def _answer(
        self, seconds: float, late: str, asked: dict[str, Any] | None = None, content: bytes = b""
    ) -> dict[str, Any]:
        """Ask, and wait for the answer; a process that is late is killed, which ends the wait."""
        deadline = threading.Timer(seconds, self._process.kill)
        deadline.start()
        try:
            if asked is not None:
                write_frame(cast(BinaryIO, self._process.stdin), asked, content)
            frame = read_frame(cast(BinaryIO, self._process.stdout), _LONGEST)
        except (OSError, ValueError) as error:
            self.kill()
            raise ExtractFailed(late) from error
        finally:
            deadline.cancel()
        if frame is None:
            self.kill()
            raise ExtractFailed(late)
        answer: dict[str, Any] = frame[0]
        return answer

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                cast(BinaryIO, pipe).close()


def _kill(processes: Iterable[_Process]) -> None:
    for process in processes:
        process.kill()


def passages(page: Page, reading: "Reading") -> list[Passage]:
    """The reading cut into passages, under the page's own address.

    A page may name a canonical address only on its own host: citations never name a site that was not read.
    """
    source = page.url
    with contextlib.suppress(httpx.InvalidURL):
        canonical = httpx.URL(reading["canonical"][:2000]).copy_with(fragment=None)
        if origin(canonical) == origin(httpx.URL(page.url)):
            source = str(canonical)
    known: dict[str, str | int | float] = {
        name: reading[name][:40] for name in ("date", "language", "charset") if reading[name]
    }
    if reading["truncated"] or page.truncated:
        known["truncated"] = 1
    title = usable(" ".join(reading["title"].split())[:_TITLE])
    document = Document(source, usable(reading["text"]), title, url=source, metadata=known)
    return list(document.passages())
