"""Mixed load, more than the server can take, and what is checked about every response."""

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from sufficit.tools.retrievers.corpora.reading import read_corpus
from sufficit.tools.retrievers.embedded import EmbeddedIndex

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
USERS = 16
SCOPES = 4
WARM_UP = 1 / 3
"""Share of the time after which memory must stay as it is."""

GROWTH = 1.1
PATIENCE = 120.0
"""Seconds after which a request counts as not answered."""

BAD: tuple[tuple[str, bytes], ...] = (
    ("/v1/answer", b"{"),
    ("/v1/answer", b'{"question": 7}'),
    ("/v1/answer", b'{"question": "a\\u0000b"}'),
    ("/v1/answer", b'{"question": "\\ud800"}'),
    ("/v1/decide", b'{"question": "Why?", "passages": [{"text": 1}]}'),
    ("/v1/chat/completions", b'{"model": "gpt", "messages": [{"role": "user", "content": "Why?"}]}'),
    ("/v1/chat/completions", b'{"model": "sufficit", "messages": []}'),
    ("/v1/cache/lookup", b'{"question": "Why?", "surprise": 1}'),
    ("/v1/nothing", b"{}"),
)


@dataclass
class Load:
    """What was asked and what came of it; a violation is whatever must not be."""

    url: str
    questions: list[str]
    dice: random.Random = field(default_factory=lambda: random.Random(1))
    outcomes: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    async def user(self, until: float) -> None:
        """Ask one thing after another."""
        kinds: list[tuple[int, Callable[[httpx.AsyncClient], Awaitable[str]]]] = [
            (6, self.answer),
            (3, self.stream),
            (4, self.chat),
            (2, self.chat_stream),
            (6, self.decide),
            (6, self.lookup),
            (4, self.bad),
            (2, self.leave),
            (1, self.metrics),
        ]
        async with httpx.AsyncClient(base_url=self.url, timeout=PATIENCE) as client:
            while time.monotonic() < until:
                ((_, kind),) = self.dice.choices(kinds, [weight for weight, _ in kinds])
                try:
                    outcome = await kind(client)
                except (httpx.HTTPError, ValueError, KeyError) as error:
                    outcome = f"VIOLATION {type(error).__name__}: {error}"
                if outcome.startswith("VIOLATION"):
                    self.violations.append(f"{kind.__name__}: {outcome}")
                self.outcomes[f"{kind.__name__} {outcome.split(':')[0]}"] += 1
                if outcome.startswith("429"):
                    await asyncio.sleep(0.2)

    def question(self) -> str:
        """One that the handbook answers, or one for the web."""
        if self.dice.random() < 0.3:
            return f"What is the code word of nobody number {self.dice.randrange(1000)}?"
        return self.dice.choice(self.questions)

    async def answer(self, client: httpx.AsyncClient) -> str:
        """An answer as one object."""
        return judged(await client.post("/v1/answer", json={"question": self.question()}), "action")

    async def stream(self, client: httpx.AsyncClient) -> str:
        """An answer as events: the last one must be the answer or an error."""
        response = await client.post("/v1/answer", json={"question": self.question(), "stream": True})
        if response.status_code != 200:
            return judged(response, "")
        last = response.text.rstrip().rsplit("\n\n", 1)[-1]
        whole = last.startswith(("event: answer\n", "event: error\n"))
        return "200" if whole else f"VIOLATION the stream ends in {last[:80]!r}"

    async def chat(self, client: httpx.AsyncClient) -> str:
        """A completion within a conversation."""
        return judged(await client.post("/v1/chat/completions", json=self._chat()), "choices")

    async def chat_stream(self, client: httpx.AsyncClient) -> str:
        """Chunks: the last one must be the sentinel or an error."""
        response = await client.post("/v1/chat/completions", json=self._chat() | {"stream": True})
        if response.status_code != 200:
            return judged(response, "")
        last = response.text.rstrip().rsplit("\n\n", 1)[-1]
        whole = last == "data: [DONE]" or last.startswith('data: {"error"')
        return "200" if whole else f"VIOLATION the stream ends in {last[:80]!r}"

    def _chat(self) -> dict[str, Any]:
        messages = [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": self.question()},
            {"role": "assistant", "content": "I do not know."},
            {"role": "user", "content": self.question()},
        ]
        return {"model": "sufficit", "messages": messages, "max_tokens": 4}

    async def decide(self, client: httpx.AsyncClient) -> str:
        """A batch of decisions over the index."""
        count = self.dice.choice((1, 1, 10))
        items = [{"question": self.question(), "index": "default"} for _ in range(count)]
        return judged(await client.post("/v1/decide", json={"items": items}), "decisions")

    async def lookup(self, client: httpx.AsyncClient) -> str:
        """A lookup in one's own scope, or without a fetch for what belongs to another: never seen."""
        own, owner = self.dice.randrange(SCOPES), self.dice.randrange(SCOPES)
        question = f"What is the code word of scope{owner}x number {self.dice.randrange(5)}?"
        body = {"question": question, "scope": f"scope{own}x", "fetch": own == owner}
        response = await client.post("/v1/cache/lookup", json=body)
        seen = {
            n for n in range(SCOPES) if n != own and f"secret-the code word of scope{n}x" in response.text
        }
        if seen:
            return f"VIOLATION scope {own} saw passages of {seen}"
        return judged(response, "outcome")

    async def bad(self, client: httpx.AsyncClient) -> str:
        """What cannot be answered: a 4xx."""
        path, body = self.dice.choice(BAD)
        response = await client.post(path, content=body, headers={"Content-Type": "application/json"})
        return judged(response, "") if response.status_code < 500 else f"VIOLATION {response.text[:200]}"

    async def leave(self, client: httpx.AsyncClient) -> str:
        """Go away before the answer is there."""
        try:
            await client.post("/v1/answer", json={"question": self.question()}, timeout=0.3)
        except httpx.TimeoutException:
            return "left"
        return "was quick"

    async def metrics(self, client: httpx.AsyncClient) -> str:
        """What a monitor reads."""
        response = await client.get("/metrics")
        return "200" if "sufficit_answers_total" in response.text else "VIOLATION no metrics"


def judged(response: httpx.Response, key: str) -> str:
    """The status where the response is a result with this key or a typed error; else a violation."""
    body = response.json()
    if response.status_code == 200:
        return "200" if key in body else f"VIOLATION a result without {key}"
    kind = body["error"]["type"]
    if kind == "internal":
        return f"VIOLATION {response.text[:200]}"
    return f"{response.status_code} {kind}"


def resident(pid: int) -> float:
    """Resident memory of a process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024


async def soak(seconds: float, folder: Path) -> bool:
    """Run server and load for so long; True where nothing was found that must not be."""
    EmbeddedIndex.build(folder / "index", read_corpus([HANDBOOK]))
    lines = (HANDBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    with (folder / "server.log").open("wb") as log:
        server = await asyncio.create_subprocess_exec(
            sys.executable,
            str(Path(__file__).with_name("server.py")),
            str(folder),
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
        assert server.stdout is not None
        port = int(await server.stdout.readline())
        load = Load(f"http://127.0.0.1:{port}", [json.loads(line)["question"] for line in lines])
        memory: list[float] = []
        began = time.monotonic()
        users = asyncio.gather(*(load.user(began + seconds) for _ in range(USERS)))
        while not users.done() and server.returncode is None:
            memory.append(resident(server.pid))
            await asyncio.wait((users,), timeout=1)
        ended, faults = server.returncode, 0
        if ended is None:
            await users
            faults = await injected(load.url)
            server.terminate()
            ended = await server.wait()
        users.cancel()
    text = (folder / "server.log").read_text(encoding="utf-8")
    return report(load, memory, ended, faults, text)


async def injected(url: str) -> int:
    """Faults that stages of runs met, as the server counts them."""
    async with httpx.AsyncClient(base_url=url) as client:
        lines = (await client.get("/metrics")).text.splitlines()
    counted = (line for line in lines if line.startswith("sufficit_faults_total"))
    return int(sum(float(line.rsplit(" ", 1)[1]) for line in counted))


def report(load: Load, memory: list[float], ended: int, faults: int, log: str) -> bool:
    """Print what was found; True where all is as it must be."""
    for outcome, count in sorted(load.outcomes.items()):
        print(f"  {outcome:<40} {count:6}")
    after = memory[int(WARM_UP * len(memory)) :]
    part = max(1, len(after) // 4)
    first, last = sum(after[:part]) / part, sum(after[-part:]) / part
    crashes = log.count("Traceback")
    print(f"{sum(load.outcomes.values())} requests of {USERS} users, {faults} faults met by runs")
    print(f"the server ended with {ended}")
    print(f"memory after warm-up {first:.0f} MiB, at the end {last:.0f} MiB: {last / first - 1:+.1%}")
    for violation in load.violations[:10]:
        print(f"VIOLATION {violation}")
    met = not load.violations and ended == 0 and last <= GROWTH * first and not crashes
    print(
        f"{len(load.violations)} violations, {crashes} tracebacks in the log   {'met' if met else 'MISSED'}"
    )
    return met
