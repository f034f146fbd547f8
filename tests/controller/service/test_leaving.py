"""Clients that go away take their work along; clients that come to a full queue are sent away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from serving import served, service
from staged import FixedSufficiency

BODY = {"question": "Where does the Rhine rise?"}


class Stuck(FixedSufficiency):
    """Scores only when it is let go; counts who began and who was cancelled."""

    def __init__(self) -> None:
        super().__init__(lambda pool: 1.0)
        self.began = self.cancelled = 0
        self.go = False

    async def score(self, question: str, pool: Any) -> Any:
        self.began += 1
        try:
            while not self.go:
                await asyncio.sleep(0.005)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return await super().score(question, pool)


async def until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def client(root: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=root, timeout=20) as client:
        yield client


@pytest.mark.parametrize("path", ["/v1/answer", "/v1/answer stream", "/v1/decide", "/v1/decide batch"])
async def test_a_client_that_goes_away_cancels_its_work(path: str):
    stuck = Stuck()
    path, _, how = path.partition(" ")
    item = BODY | {"passages": [{"text": "a"}]}
    bodies = {"/v1/answer": BODY | {"stream": how == "stream"}, "/v1/decide": item}
    body = {"items": [item] * 3} if how == "batch" else bodies[path]
    running = service(sufficiency=stuck)
    with served(running) as root:
        async with client(root) as http:
            asked = asyncio.create_task(http.post(path, json=body))
            await until(lambda: stuck.began)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
            await until(lambda: stuck.cancelled == stuck.began)
            await until(lambda: running.room.working == 0)
            stuck.go = True
            assert (await http.post(path, json=body)).status_code == 200


async def test_who_leaves_the_queue_makes_room_in_it():
    stuck = Stuck()
    running = service("service.concurrent=1", "service.queue=1", sufficiency=stuck)
    with served(running) as root:
        async with client(root) as http:
            first = asyncio.create_task(http.post("/v1/answer", json=BODY))
            await until(lambda: stuck.began)
            second = asyncio.create_task(http.post("/v1/answer", json=BODY | {"stream": True}))
            await until(lambda: running.room.waiting == 1)
            for body in (BODY, BODY | {"stream": True}):
                full = await http.post("/v1/answer", json=body)
                assert (full.status_code, full.json()["error"]["type"]) == (429, "queue_full")
                assert int(full.headers["Retry-After"]) >= 1
            second.cancel()
            await until(lambda: running.room.waiting == 0)
            third = asyncio.create_task(http.post("/v1/answer", json=BODY))
            await until(lambda: running.room.waiting == 1)
            # Who only asks how things stand never waits.
            assert (await http.get("/ready")).json() == {"status": "ready", "waiting": 1, "working": 1}
            stuck.go = True
            assert [(await task).status_code for task in (first, third)] == [200, 200]


async def test_the_deadline_counts_the_time_in_the_queue():
    stuck = Stuck()
    running = service("service.concurrent=1", sufficiency=stuck)
    with served(running) as root:
        async with client(root) as http:
            first = asyncio.create_task(http.post("/v1/answer", json=BODY))
            await until(lambda: stuck.began)
            late = await http.post("/v1/answer", json=BODY | {"budget": {"seconds": 0.1}})
            assert (late.status_code, late.json()["error"]["type"]) == (504, "deadline")
            stuck.go = True
            assert (await first).status_code == 200


async def test_a_deadline_ends_a_run_in_an_abstention():
    running = service(sufficiency=Stuck())
    with served(running) as root:
        async with client(root) as http:
            answer = (await http.post("/v1/answer", json=BODY | {"budget": {"seconds": 0.1}})).json()
    assert answer["action"] == "abstain"
    assert "budget.seconds" in answer["reason"]
