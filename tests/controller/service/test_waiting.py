"""The queue: its bound, its order, its deadline."""

import asyncio

import pytest
from sufficit.controller.service.errors import Refused
from sufficit.controller.service.waiting import WaitingRoom


async def test_so_many_work_so_many_wait_and_the_next_is_sent_away():
    room, go, order = WaitingRoom(2, 2), asyncio.Event(), list[int]()

    async def request(number: int) -> None:
        async with room.turn(10):
            order.append(number)
            await go.wait()

    tasks = [asyncio.create_task(request(number)) for number in range(4)]
    await asyncio.sleep(0)
    assert (room.working, room.waiting) == (2, 2)
    with pytest.raises(Refused) as refused:
        await request(4)
    assert (refused.value.status, refused.value.kind) == (429, "queue_full")
    assert int(refused.value.headers["Retry-After"]) >= 1
    go.set()
    await asyncio.gather(*tasks)
    assert order == [0, 1, 2, 3]
    assert (room.working, room.waiting) == (0, 0)
    await request(5)


async def test_no_places_means_that_nobody_waits():
    room = WaitingRoom(1, 0)
    async with room.turn(10):
        with pytest.raises(Refused, match="try again later"):
            async with room.turn(10):
                pass
    async with room.turn(10) as left:
        assert 9 < left <= 10


async def test_a_deadline_passes_while_waiting():
    room = WaitingRoom(1, 1)
    async with room.turn(10):
        with pytest.raises(Refused) as refused:
            async with room.turn(0.02):
                pass
    assert (refused.value.status, refused.value.kind) == (504, "deadline")
    assert room.waiting == 0


async def test_who_stops_waiting_takes_no_turn():
    room = WaitingRoom(1, 1)

    async def wait() -> None:
        async with room.turn(10):
            pass

    async with room.turn(10):
        gone = asyncio.create_task(wait())
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert room.waiting == 0
    await asyncio.wait_for(wait(), 1)


async def test_a_failing_request_gives_its_turn_back():
    room = WaitingRoom(1, 0)
    with pytest.raises(ZeroDivisionError):
        async with room.turn(10):
            raise ZeroDivisionError
    async with room.turn(10):
        assert room.working == 1
