"""The HTTP generator behind a proxy that does wrong: each fault ends as a typed error or a recorded retry."""

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
from completions_server import CompletionsServer
from faulty_proxy import FaultyProxy
from http_server import Connection, HttpServer, Request, Response, elsewhere, reply
from sufficit.tools.errors import GenerationFailed, SettingsError
from sufficit.tools.generators.client import Refused, ServerClient
from sufficit.tools.generators.http import HttpGenerator
from sufficit.tools.generators.server import ServerSettings
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.types import Prompt

PROMPT = Prompt("x")
SLOW = {"backoff_seconds": 0.01, "read_seconds": 4.0, "attempts": 3}


@pytest.fixture(scope="module")
def proxy(tiny: TransformersGenerator) -> Iterator[FaultyProxy]:
    with elsewhere(CompletionsServer(tiny._loaded).serving()) as served:
        yield FaultyProxy(served.url)


@pytest.fixture(scope="module")
def generator(proxy: FaultyProxy, tiny: TransformersGenerator) -> Iterator[HttpGenerator]:
    with elsewhere(proxy.serving()) as served:
        settings = ServerSettings(url=served.url, tokenizer=tiny.capabilities.model, **SLOW)
        yield HttpGenerator.connect(tiny.capabilities.model, settings, top_k=8)


@pytest.fixture(autouse=True)
def _well_again(proxy: FaultyProxy) -> Iterator[None]:
    yield
    proxy.faults, proxy.retry_after, proxy.stall_seconds = [], None, 30.0


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("reset", "ReadError|RemoteProtocolError"),
        ("truncated", "broken JSON"),
        ("stall", "ReadTimeout"),
        ("429", "HTTP 429"),
        ("502", "HTTP 502"),
        ("503", "HTTP 503"),
        ("504", "HTTP 504"),
    ],
)
async def test_what_passes_is_tried_again_and_recorded(
    generator: HttpGenerator, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture, fault: str, told: str
) -> None:
    good = (await generator.generate([PROMPT], 2))[0]
    proxy.faults, before = [fault], proxy.asked
    caplog.set_level(logging.WARNING, "sufficit.tools.generators.client")
    assert (await generator.generate([PROMPT], 2))[0] == good
    assert proxy.asked - before == 2
    assert len(caplog.records) == 1
    assert caplog.records[0].getMessage().startswith("try 1 of 3: ")
    assert "(request sufficit-" in caplog.text
    proxy.faults = [fault] * 3
    if fault != "stall":
        with pytest.raises(GenerationFailed, match=told) as failure:
            await generator.generate([PROMPT], 2)
        assert failure.value.request_id.startswith("sufficit-")
        assert failure.value.request_id in str(failure.value)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("500", "HTTP 500: the engine said no"),
        ("400", "HTTP 400"),
        ("bare", "has no log-probabilities"),
        ("unknown", "without a log-probability"),
    ],
)
async def test_what_stays_is_an_error_at_once(
    generator: HttpGenerator, proxy: FaultyProxy, fault: str, told: str
) -> None:
    proxy.faults, before = [fault], proxy.asked
    with pytest.raises(GenerationFailed, match=told) as failure:
        await generator.generate([PROMPT], 2)
    assert f"(request {failure.value.request_id})" in str(failure.value)
    assert proxy.asked - before == 1
    assert (await generator.generate([PROMPT], 2))[0].token_ids  # and the next call is well


async def test_one_bad_answer_among_many(generator: HttpGenerator, proxy: FaultyProxy) -> None:
    proxy.faults = ["", "", "bare"]
    with pytest.raises(GenerationFailed, match="no log-probabilities"):
        await generator.rollout([Prompt(f"{n}") for n in range(5)], 2, 4)


async def test_a_scores_missing_token_is_an_error(generator: HttpGenerator, proxy: FaultyProxy) -> None:
    proxy.faults = ["unknown"]  # the first token's: the prompt's, which nobody asked about
    assert len((await generator.score(PROMPT, [" a b"]))[0]) == 2


async def test_missing_entries_are_left_out(generator: HttpGenerator, proxy: FaultyProxy) -> None:
    whole = (await generator.rollout([PROMPT], 3, 8))[0]
    proxy.faults = ["holes"]
    holed = (await generator.rollout([PROMPT], 3, 8))[0]
    assert holed.generation == whole.generation
    assert holed.steps == tuple(step[:1] for step in whole.steps)


async def test_a_stall_ends_at_the_total_time() -> None:
    stalling = FaultyProxy("http://127.0.0.1:9", faults=["stall"])
    with elsewhere(stalling.serving()) as served:
        client = ServerClient(ServerSettings(url=served.url, total_seconds=0.5))
        started = time.monotonic()
        with pytest.raises(GenerationFailed, match=r"longer than generator\.total_seconds = 0\.5"):
            await client.ask("/v1/completions", {})
        assert time.monotonic() - started < 5


async def test_retry_after_is_waited_for(generator: HttpGenerator, proxy: FaultyProxy) -> None:
    proxy.faults, proxy.retry_after = ["429"], "1"
    started = time.monotonic()
    await generator.generate([PROMPT], 1)
    assert time.monotonic() - started >= 1
    proxy.faults, proxy.retry_after, before = ["429"], "86400", proxy.asked
    with pytest.raises(GenerationFailed, match="HTTP 429"):
        await generator.generate([PROMPT], 1)
    assert proxy.asked - before == 1


async def test_nobody_listens(free_port: int) -> None:
    settings = ServerSettings(url=f"http://127.0.0.1:{free_port}", attempts=2, backoff_seconds=0)
    with pytest.raises(GenerationFailed, match="ConnectError"):
        await ServerClient(settings).ask("/v1/models")


@pytest.fixture
async def free_port() -> int:
    async with HttpServer(_echo) as server:
        return int(server.url.rpartition(":")[2])


async def _echo(request: Request, connection: Connection) -> Response:
    return reply({"method": request.method, "headers": request.headers})


async def test_connections_are_kept_and_bounded() -> None:
    busy, most = 0, 0

    async def slow(request: Request, connection: Connection) -> Response:
        nonlocal busy, most
        busy, most = busy + 1, max(most, busy + 1)
        await asyncio.sleep(0.02)
        busy -= 1
        return reply({})

    async with HttpServer(slow) as server:
        client = ServerClient(ServerSettings(url=server.url, concurrency=4))
        await asyncio.gather(*(client.ask("/x") for _ in range(24)))
    assert (most, server.connections) == (4, 4)


async def test_a_caller_that_leaves_ends_the_request() -> None:
    ended = asyncio.Event()

    async def endless(request: Request, connection: Connection) -> Response:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return reply({})

    async with HttpServer(endless) as server:
        client = ServerClient(ServerSettings(url=server.url, concurrency=1))
        task = asyncio.create_task(client.ask("/x"))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait_for(ended.wait(), 5)


def test_callers_on_several_event_loops() -> None:
    with elsewhere(HttpServer(_echo)) as server:
        client = ServerClient(ServerSettings(url=server.url))
        for _ in range(2):
            assert asyncio.run(client.ask("/x", {})).body["method"] == "POST"
        assert client.ask_now("/x").body["method"] == "GET"
        assert server.connections == 1


async def test_the_key_is_sent_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", "sk-very-secret")

    async def repeats(request: Request, connection: Connection) -> Response:
        assert request.headers["authorization"] == "Bearer sk-very-secret"
        status = {"/busy": 503, "/bad": 400, "/no": 401}[request.path]
        return reply({"error": {"message": "the key sk-very-secret is wrong"}}, status)

    async with HttpServer(repeats) as server:
        settings = ServerSettings(url=server.url, api_key_env="MY_KEY", attempts=2, backoff_seconds=0)
        client = ServerClient(settings)
        shown: list[Any] = [client, settings, vars(settings), settings.model_dump_json()]
        for path, kind in (("/busy", GenerationFailed), ("/bad", Refused), ("/no", SettingsError)):
            with pytest.raises(kind, match=r"the key \*\*\* is wrong") as failure:
                await client.ask(path, {})
            shown.append(failure.value)
    assert "api_key_env" in str(shown[-1])
    for thing in shown:
        assert "very-secret" not in f"{thing!r} {thing}"
    assert "very-secret" not in caplog.text


async def test_an_answer_that_is_no_object() -> None:
    async def lists(request: Request, connection: Connection) -> Response:
        return reply([1])

    async with HttpServer(lists) as server:
        with pytest.raises(GenerationFailed, match="no object"):
            await ServerClient(ServerSettings(url=server.url)).ask("/x")
