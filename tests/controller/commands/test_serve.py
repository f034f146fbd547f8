"""`sufficit serve` as a process of its own, with the real models over a tiny index; how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sufficit.controller.cli import app
from sufficit.tools.errors import SettingsError
from sufficit.tools.models import store
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.types import Passage
from typer.testing import CliRunner

QUESTION = "Which instrument did Orla Venn build in Tarnwick?"
SETTINGS = (
    "service.notice_seconds=3",
    "rinse.threshold=0",
    "igp.threshold=-inf",
    "igp.max_tokens=4",
    "generator.answer_tokens=8",
)
SECONDS = 240  # what a busy machine may take
CHAPEL = "Who painted the ceiling of the chapel in Lower Aldbrook?"
HELD = [
    Passage("1", "Orla Venn built the glass harmonium in Tarnwick in 1911.", "Orla Venn", "venn.md"),
    Passage("2", "Tarnwick lies on the river Sull and has a mill.", "Tarnwick", "tarnwick.md"),
    Passage("3", "The mill of Tarnwick closed in 1954.", "Mill", "mill.md"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("serve") / "index"
    EmbeddedIndex.build(folder, HELD)
    return folder


@pytest.fixture(scope="module")
def process(index: Path) -> Iterator[tuple[subprocess.Popen, str]]:
    for model in ("smollm2-135m-instruct", "all-minilm-l6-v2"):
        store.install(model)
    options = ["--port", "0", "--index", str(index)]
    for assignment in SETTINGS:
        options += ["--set", assignment]
    running = subprocess.Popen(
        [Path(sys.executable).parent / "sufficit", "serve", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("SUFFICIT_")},
    )
    for line in running.stderr:
        if place := re.search(r"http://127\.0\.0\.1:\d+", line):
            break
    yield running, place.group()
    running.kill()
    running.wait()


def ready(root: str) -> tuple[int, str]:
    response = httpx.get(f"{root}/ready")
    return response.status_code, response.json()["status"]


def test_it_answers_decides_streams_and_drains(process: tuple[subprocess.Popen, str]):
    running, root = process
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            assert ready(root) == (200, "ready")
            break
        except httpx.ConnectError:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    held = {"question": QUESTION, "passages": [{"text": HELD[0].text, "source": "venn.md"}]}
    found = {"question": QUESTION, "index": "default"}
    other = {"question": CHAPEL, "passages": [{"text": HELD[1].text}]}
    items = {"items": [held, found, other]}
    decisions = httpx.post(f"{root}/v1/decide", json=items, timeout=SECONDS).json()["decisions"]
    assert [d["decision"] for d in decisions] == ["hit", "hit", "miss"]
    assert decisions[0]["score"] > decisions[0]["threshold"] == 0
    assert [r["reader"] for r in decisions[0]["readers"]] == ["content"]
    assert any("chapel" in window["text"] for window in decisions[2]["uncovered"])
    assert "Aldbrook" in decisions[2]["suggested_query"]

    answer = httpx.post(f"{root}/v1/answer", json={"question": QUESTION}, timeout=SECONDS).json()
    assert answer["action"] == "answer"
    assert answer["evidence"][0]["source"] == "venn.md"
    with (
        ThreadPoolExecutor(1) as pool,
        httpx.stream(
            "POST", f"{root}/v1/answer", json={"question": QUESTION, "stream": True}, timeout=SECONDS
        ) as response,
    ):
        lines = response.iter_lines()
        assert next(lines) == "event: started"
        # What is under way when the signal comes is finished; new requests are still taken for a while.
        running.send_signal(signal.SIGTERM)
        noticed = pool.submit(until_draining, root)
        *_, event, data, _ = lines
        assert event == "event: answer"
        assert json.loads(data.removeprefix("data: "))["answer"] == answer["answer"]
        assert noticed.result()
    assert running.wait(SECONDS) == 0
    with pytest.raises(httpx.ConnectError):
        ready(root)


def until_draining(root: str) -> bool:
    deadline = time.monotonic() + 2.5
    while time.monotonic() < deadline:
        if ready(root) == (503, "draining"):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.org"])
def test_without_keys_only_loopback_is_served(host: str):
    result = CliRunner().invoke(app, ["serve", "--host", host])
    assert isinstance(result.exception, SettingsError)
    assert "no API keys" in str(result.exception)
    assert "service.keys" in str(result.exception)


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = CliRunner().invoke(app, ["serve", "--port", str(taken.getsockname()[1])])
    assert isinstance(result.exception, SettingsError)
    assert "in use" in str(result.exception)


def test_a_file_of_keys_that_is_not_there(index: Path, tmp_path: Path):
    options = ["--port", "0", "--index", str(index), "--set", f"service.keys={tmp_path / 'none.toml'}"]
    result = CliRunner().invoke(app, ["serve", *options])
    assert isinstance(result.exception, SettingsError)
    assert "service.keys" in str(result.exception)
