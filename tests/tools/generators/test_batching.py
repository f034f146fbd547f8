import asyncio
import threading
from collections.abc import Sequence

import pytest
from sufficit.tools.errors import InputError, ToolError
from sufficit.tools.generators.batching import Batcher, Cancelled, Kind


class Doubling:
    """Work that can be held up, and that remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.go = threading.Event()
        self.go.set()
        self.kind = Kind(lambda rows: range(min(len(rows), 4)), self.run)

    def run(self, rows: Sequence[int], cancelled: Sequence[Cancelled]) -> list[int]:
        self.go.wait(5)
        self.batches.append(list(rows))
        if 13 in rows:
            raise InputError("thirteen")
        if 14 in rows:
            raise RuntimeError("fourteen")
        return [2 * row for row in rows]


async def test_concurrent_callers_are_gathered() -> None:
    work, batcher = Doubling(), Batcher(lambda: None)
    results = await asyncio.gather(*(batcher.submit(work.kind, [n]) for n in range(4)))
    assert results == [[0], [2], [4], [6]]
    assert work.batches == [[0, 1, 2, 3]]


async def test_more_rows_than_one_batch_holds_come_back_in_order() -> None:
    work, batcher = Doubling(), Batcher(lambda: None)
    assert await batcher.submit(work.kind, range(11)) == list(range(0, 22, 2))
    assert [len(batch) for batch in work.batches] == [4, 4, 3]


async def test_two_kinds_do_not_mix() -> None:
    one, other, batcher = Doubling(), Doubling(), Batcher(lambda: None)
    await asyncio.gather(batcher.submit(one.kind, [1, 2]), batcher.submit(other.kind, [3, 4]))
    assert (one.batches, other.batches) == ([[1, 2]], [[3, 4]])


async def test_rows_of_a_cancelled_caller_are_not_run() -> None:
    work, batcher = Doubling(), Batcher(lambda: None)
    work.go.clear()
    running = asyncio.create_task(batcher.submit(work.kind, [1]))
    await asyncio.sleep(0.05)
    waiting = asyncio.create_task(batcher.submit(work.kind, [2]))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    work.go.set()
    assert await running == [2]
    assert await batcher.submit(work.kind, [3]) == [6]
    assert work.batches == [[1], [3]]


async def test_errors_reach_the_callers_of_the_batch_only() -> None:
    work, batcher = Doubling(), Batcher(lambda: None)
    with pytest.raises(InputError, match="thirteen"):
        await batcher.submit(work.kind, [13])
    with pytest.raises(ToolError, match="RuntimeError: fourteen"):
        await batcher.submit(work.kind, [14])
    assert await batcher.submit(work.kind, [1]) == [2]


async def test_no_rows() -> None:
    assert await Batcher(lambda: None).submit(Doubling().kind, []) == []


def test_callers_on_several_event_loops() -> None:
    work, batcher = Doubling(), Batcher(lambda: None)
    for n in range(3):
        assert asyncio.run(batcher.submit(work.kind, [n])) == [2 * n]
