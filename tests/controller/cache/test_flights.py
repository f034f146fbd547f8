import asyncio

import pytest
from sufficit.controller.cache.flights import Flights


class Work:
    """Counts its runs; waits until it is let go."""

    def __init__(self) -> None:
        self.runs = 0
        self.cancelled = 0
        self.gate = asyncio.Event()

    async def __call__(self) -> int:
        self.runs += 1
        run = self.runs
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return run


async def test_those_who_want_the_same_at_once_share_one_run():
    flights, work = Flights(), Work()
    calls = [asyncio.create_task(flights.share("need", flights.now(), work)) for _ in range(20)]
    other = asyncio.create_task(flights.share("other", flights.now(), work))
    await asyncio.sleep(0)
    work.gate.set()
    results = await asyncio.gather(*calls)
    assert [result for result, _ in results] == [1] * 20
    assert [shared for _, shared in results] == [False] + [True] * 19
    assert await other == (2, False)


async def test_whoever_set_out_before_it_landed_shares_it_and_whoever_came_later_does_not():
    flights, work = Flights(), Work()
    work.gate.set()
    before = flights.now()
    assert await flights.share("need", before, work) == (1, False)
    assert await flights.share("need", before, work) == (1, True)
    assert await flights.share("need", flights.now(), work) == (2, False)


async def test_it_flies_on_while_one_still_waits_and_is_cancelled_when_all_have_gone():
    flights, work = Flights(), Work()
    first, second, third = (asyncio.create_task(flights.share("need", flights.now(), work)) for _ in range(3))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    assert work.cancelled == 0
    second.cancel()
    third.cancel()
    await asyncio.gather(first, second, third, return_exceptions=True)
    await asyncio.sleep(0)
    assert (work.runs, work.cancelled) == (1, 1)
    work.gate.set()
    assert await flights.share("need", flights.now(), work) == (2, False)


async def test_a_failure_reaches_all_who_wait_and_is_not_remembered():
    flights = Flights()
    runs = []

    async def broken() -> int:
        runs.append(1)
        await asyncio.sleep(0)
        raise LookupError("gone")

    since = flights.now()
    calls = [flights.share("need", since, broken) for _ in range(3)]
    assert all(isinstance(e, LookupError) for e in await asyncio.gather(*calls, return_exceptions=True))
    assert len(runs) == 1
    with pytest.raises(LookupError):
        await flights.share("need", since, broken)
    assert len(runs) == 2
