"""Fetching and reading pages of a loopback site: pages per second, and memory over two thousand pages.

    python bench/web.py [PAGES]

200 pages at concurrency 8 are timed, with fetching alone and with fetching and reading; then PAGES (2,000)
pages are fetched and read, and the memory of this process and of its readers is printed on the way. The site
runs in a process of its own. Nothing but 127.0.0.1 is reached.

Exits with 1 where fetching and reading is slower than FLOOR pages per second, or memory is not flat: the
largest resident size of the last quarter of the pages is over that of the first by more than TOLERANCE, for
this process or for its readers.
"""

import asyncio
import gzip
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from sufficit.tools.types import Page
from sufficit.tools.web.extract import PageReader
from sufficit.tools.web.settings import ExtractSettings
from sufficit.tools.web.toolbox import WebTools
from website import LOOPBACK, Names, Site, article, settings, web

TIMED = 200
AT_ONCE = 8
FLOOR = 5.0  # pages per second, fetched and read, on two busy cores
TOLERANCE = 0.15
WORDS = ("river", "mountain", "bread", "water", "stone", "winter", "harbour", "bridge", "market", "letter")


def page(number: int) -> str:
    """An article of 300 to 3,000 words, different for each number."""
    source = random.Random(number)
    paragraphs = [
        " ".join(source.choices(WORDS, k=source.randint(40, 120))).capitalize() + f" in {number}."
        for _ in range(source.randint(6, 30))
    ]
    menu = "".join(f'<li><a href="/{n}">Page {n}</a></li>' for n in range(80))
    return article(*paragraphs, title=f"Page {number}").replace("<body>", f"<body><nav><ul>{menu}</ul></nav>")


async def serve(pages: int, channel: Connection) -> None:
    """Serve every third page packed, every tenth behind a redirect, until told to stop."""
    async with Site() as site:
        for number in range(pages):
            content: bytes = page(number).encode()
            extra = {"cache_control": "max-age=600"}
            if number % 3 == 0:
                content, extra = gzip.compress(content), {**extra, "content_encoding": "gzip"}
            path = f"/{number}"
            if number % 10 == 0:
                site.redirect(path, f"/moved/{number}")
                path = f"/moved/{number}"
            site.serve(path, content, **extra)
        channel.send(site.port)
        while not channel.poll():
            site.requests.clear()
            await asyncio.sleep(0.1)


def _serve(pages: int, channel: Connection) -> None:
    asyncio.run(serve(pages, channel))


@asynccontextmanager
async def site_of(pages: int) -> AsyncIterator[int]:
    """The port of a site of so many pages, in a process of its own."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(pages, theirs))
    process.start()
    try:
        yield await asyncio.to_thread(ours.recv)
    finally:
        ours.send(None)
        process.join()


async def visit(tools: WebTools, urls: list[str], read: bool) -> int:
    """Fetch, and read, all pages, AT_ONCE at a time; returns the passages."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(url: str) -> int:
        async with turns:
            fetched: Page = await tools.fetcher.fetch(url)
            return len(await tools.extractor.extract(fetched)) if read else 0

    return sum(await asyncio.gather(*(one(url) for url in urls)))


def peak(who: int = resource.RUSAGE_SELF) -> float:
    """Largest resident memory so far, in MB."""
    return resource.getrusage(who).ru_maxrss / 1024


def resident(pid: int) -> float:
    """Resident memory of a process now, in MB."""
    fields = Path(f"/proc/{pid}/status").read_text().split()
    return int(fields[fields.index("VmRSS:") + 1]) / 1024


def not_flat(sizes: Sequence[float]) -> bool:
    """Whether the last quarter of these sizes, in MB, tops the first by more than TOLERANCE."""
    quarter = max(1, len(sizes) // 4)
    return max(sizes[-quarter:]) > (1 + TOLERANCE) * max(sizes[:quarter])


async def main(pages: int) -> list[str]:
    """Measure and print; returns the targets that were missed."""
    missed = []
    here: list[float] = []
    readers: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with site_of(max(pages, TIMED)) as port:
            reach = {"networks": [f"{LOOPBACK}/32"], "ports": [port]}
            chosen = settings(reach=reach, fetch={"cache_bytes": 256_000_000, "seconds": 60})
            built = web(chosen, Names(), Path(folder))
            reader = PageReader(ExtractSettings(processes=2))
            tools = WebTools(built.search, built.fetcher, reader)
            urls = [f"http://{LOOPBACK}:{port}/{number}" for number in range(pages)]
            await visit(tools, urls[:2], read=True)
            for name, read in (
                ("fetch, cold cache", False),
                ("fetch, warm cache", False),
                ("and read", True),
            ):
                began = time.perf_counter()
                await visit(tools, urls[:TIMED], read)
                seconds = time.perf_counter() - began
                print(f"{TIMED} pages at concurrency {AT_ONCE}, {name}: {TIMED / seconds:.1f} pages/s")
                if read and TIMED / seconds < FLOOR:
                    missed.append(f"{TIMED / seconds:.1f} pages/s fetched and read, under {FLOOR:g}")
            for first in range(0, pages, TIMED):
                count = await visit(tools, urls[first : first + TIMED], read=True)
                here.append(resident(os.getpid()))
                readers.append(max(resident(p._process.pid) for p in reader._processes))
                print(
                    f"{min(first + TIMED, pages):5} pages, {count} passages: here {here[-1]:.0f} MB "
                    f"(peak {peak():.0f}), largest reader {readers[-1]:.0f} MB"
                )
            reader.close()
            print(f"largest reader ever: {peak(resource.RUSAGE_CHILDREN):.0f} MB")
    for name, sizes in (("this process", here), ("the readers", readers)):
        if not_flat(sizes):
            missed.append(f"the memory of {name} is not flat: {', '.join(f'{s:.0f}' for s in sizes)} MB")
    return missed


if __name__ == "__main__":
    missed = asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
    for miss in missed:
        print(f"MISSED: {miss}")
    sys.exit(1 if missed else 0)
