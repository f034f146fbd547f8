"""Throughput of the retrievers side by side over one synthetic corpus: building, p50, queries per second.

    python bench/retrievers.py [PASSAGES] [DENSE_PASSAGES]

Passages of about 100 words are drawn from a vocabulary whose words fall off as Zipf's law has it; queries are
of four words, and ask for the best 20. Each kind is built (PASSAGES: 50,000; DENSE_PASSAGES: 2,000, for
encoding takes its time), asked one query at a time, then from two at once. Printed are seconds of the build,
the median of a search in milliseconds, queries per second, and these as a ratio to the embedded index of the
same size. Kinds whose packages are missing are named and left out.

Exits with 1 where Lucene, over PASSAGES, answers fewer than LUCENE_QPS queries per second from two at once.
"""

import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sufficit.tools.errors import UsageError
from sufficit.tools.protocols import Retriever
from sufficit.tools.retrievers.opening import Kind, build_index, open_index
from sufficit.tools.types import Passage

LUCENE_QPS = 100.0  # 300 to 600 on two idle cores; a busy machine has less
WORDS = 30_000
QUERIES = 400
WARM = 50
TOP = 20
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "al", "en", "or")]


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of a build, milliseconds of a search at the median, queries per second from two at once."""

    build: float
    median: float
    rate: float


def vocabulary() -> tuple[list[str], list[float]]:
    """Words of one to three syllables, and the cumulative weights of Zipf's law."""
    source = random.Random(0)
    words: dict[str, None] = {}
    while len(words) < WORDS:
        words["".join(source.choices(SYLLABLES, k=source.randint(2, 4)))] = None
    total, weights = 0.0, []
    for rank in range(1, WORDS + 1):
        total += 1 / rank
        weights.append(total)
    return list(words), weights


def corpus(count: int) -> Iterator[Passage]:
    """The same passages at every call."""
    words, weights = vocabulary()
    source = random.Random(1)
    for number in range(count):
        text = " ".join(source.choices(words, cum_weights=weights, k=source.randint(60, 140)))
        yield Passage("0", text, "", f"d{number}")


def questions() -> list[str]:
    """Queries of four words, rather rare than frequent."""
    words, _ = vocabulary()
    source = random.Random(2)
    return [" ".join(source.choices(words[50:5_000], k=4)) for _ in range(QUERIES)]


async def asked(retriever: Retriever, queries: Sequence[str]) -> tuple[float, float]:
    """Milliseconds of a search at the median, and queries per second from two at once."""
    for query in queries[:WARM]:
        await retriever.search(query, TOP)
    seconds = []
    for query in queries:
        began = time.perf_counter()
        await retriever.search(query, TOP)
        seconds.append(time.perf_counter() - began)

    async def some(queries: Sequence[str]) -> None:
        for query in queries:
            await retriever.search(query, TOP)

    began = time.perf_counter()
    await asyncio.gather(some(queries[::2]), some(queries[1::2]))
    return 1000 * statistics.median(seconds), len(queries) / (time.perf_counter() - began)


def measured(kind: Kind, count: int, queries: Sequence[str]) -> Measured:
    """Build an index of the kind and ask it."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = build_index(kind, Path(folder), list(corpus(count))).seconds
        median, rate = asyncio.run(asked(open_index(Path(folder)), queries))
    return Measured(seconds, median, rate)


def main(sizes: dict[Kind, int]) -> list[str]:
    """Measure and print; returns the targets that were missed."""
    queries, missed = questions(), []
    print(f"{'kind':9} {'passages':>8} {'build':>8} {'p50':>9} {'QPS':>7}   p50 and QPS over embedded's")
    embedded: dict[int, Measured] = {}
    for kind, count in sizes.items():
        if count not in embedded:
            embedded[count] = measured("embedded", count, queries)
        base = embedded[count]
        try:
            found = base if kind == "embedded" else measured(kind, count, queries)
        except UsageError as error:
            print(f"{kind:9} left out: {str(error).splitlines()[0]}")
            continue
        ratios = f"{found.median / base.median:.1f} and {found.rate / base.rate:.2f}"
        print(
            f"{kind:9} {count:8,} {found.build:6.1f} s {found.median:6.2f} ms {found.rate:7.0f}   {ratios}",
            flush=True,
        )
        if kind == "lucene" and found.rate < LUCENE_QPS:
            missed.append(f"Lucene answers {found.rate:.0f} queries per second, under {LUCENE_QPS:g}")
    return missed


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    passages, encoded = (*given, *(50_000, 2_000)[len(given) :])
    misses = main({"embedded": passages, "lucene": passages, "dense": encoded})
    for miss in misses:
        print(f"MISSED: {miss}")
    sys.exit(1 if misses else 0)
