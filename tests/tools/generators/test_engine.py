"""Requests to an engine that is stepped on a thread: a scripted engine stands for vLLM's."""

import asyncio
import threading
from dataclasses import dataclass, field
from typing import Any

import pytest
from sufficit.tools.errors import ToolError
from sufficit.tools.generators.engine import Engine


@dataclass(frozen=True)
class Output:
    request_id: str
    finished: bool
    prompt: str


@dataclass
class Scripted:
    """A request takes as many steps as its parameters say; one step of the prompt "broken" raises."""

    left: dict[str, int] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    aborted: list[str] = field(default_factory=list)
    most: int = 0
    go: threading.Event = field(default_factory=threading.Event)

    def add_request(self, request_id: str, prompt: str, params: int) -> None:
        if prompt == "refused":
            raise ValueError("too long")
        self.left[request_id], self.prompts[request_id] = params, prompt

    def has_unfinished_requests(self) -> bool:
        return bool(self.left)

    def step(self) -> list[Output]:
        self.go.wait(5)
        self.most = max(self.most, len(self.left))
        if "broken" in (self.prompts[id_] for id_ in self.left):
            self.left.clear()
            raise RuntimeError("engine dead")
        for id_ in self.left:
            self.left[id_] -= 1
        outputs = [Output(id_, count == 0, self.prompts[id_]) for id_, count in self.left.items()]
        self.left = {id_: count for id_, count in self.left.items() if count}
        return outputs

    def abort_request(self, request_ids: list[str]) -> None:
        self.aborted += request_ids
        for id_ in request_ids:
            del self.left[id_]


async def test_requests_join_the_running_batch_and_come_back_in_order() -> None:
    scripted = Scripted()
    engine = Engine(scripted)
    first = asyncio.create_task(engine.run([("long", 5), ("short", 1)]))
    second = asyncio.create_task(engine.run([("later", 2)]))
    await asyncio.sleep(0.05)
    scripted.go.set()
    assert [output.prompt for output in await first] == ["long", "short"]
    assert [output.prompt for output in await second] == ["later"]
    assert scripted.most == 3
    assert await engine.run([]) == []


async def test_a_cancelled_request_is_aborted() -> None:
    scripted = Scripted()
    engine = Engine(scripted)
    task = asyncio.create_task(engine.run([("endless", 10**9)]))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    scripted.go.set()
    assert (await engine.run([("next", 1)]))[0].prompt == "next"
    assert scripted.aborted == ["0"]
    assert scripted.left == {}


async def test_a_refused_request_concerns_its_caller_alone() -> None:
    scripted = Scripted()
    scripted.go.set()
    engine = Engine(scripted)
    refused, good = await asyncio.gather(
        engine.run([("refused", 1)]), engine.run([("good", 3)]), return_exceptions=True
    )
    assert isinstance(refused, ToolError)
    assert "too long" in str(refused)
    assert isinstance(good, list)


async def test_a_failing_step_fails_those_that_run() -> None:
    scripted = Scripted()
    scripted.go.set()
    engine: Any = Engine(scripted)
    with pytest.raises(ToolError, match="vLLM failed: RuntimeError: engine dead"):
        await engine.run([("broken", 1)])
    assert (await engine.run([("next", 1)]))[0].prompt == "next"
