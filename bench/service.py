"""The HTTP service under load, against the generator it stands on, and through faults.

    python bench/service.py [--users N] [--questions N] [--passages N]
    python bench/service.py --minutes M

Without `--minutes`: throughput. N users (8) ask N questions each (2) of the handbook, one after another, over
HTTP on loopback, N passages (8) a round; then as many users make the same calls of the bare generator, with
the same prompts, in the same order. Both sides begin with a generator that remembers no prompt. Exits with 1
where the service's throughput is under 0.9 of the bare generator's.

With `--minutes`: a soak. A server of its own with a short queue gets mixed load, more than it can take, while
its generator and its web fail again and again. Exits with 1 where a request got neither a result nor a typed
error, a passage was seen in another scope, the server ended, or its memory grew by over 10% after warm-up.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import sufficit.controller.environment  # noqa: F401  before torch
from sufficit.controller.loading import Tools, load_tools
from sufficit.controller.service.opening import open_service
from sufficit.controller.service.running import Server, bind
from sufficit.controller.settings import Settings, load
from sufficit.tools.generators.transformers import PREFIX_TOKENS, TransformersGenerator
from sufficit.tools.models import store
from sufficit.tools.models.compute import available_threads
from sufficit.tools.protocols import Generator
from sufficit.tools.retrievers.corpora.reading import read_corpus
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.types import Capabilities, Generation, Prompt, Rollout

HANDBOOK = Path(__file__).resolve().parent.parent / "examples" / "handbook"
TARGET = 0.9

Call = Callable[[Generator], Awaitable[Any]]

RUN: ContextVar[list[list[Call]]] = ContextVar("run")
"""The calls of the run that is going on, those that overlapped together."""


@dataclass
class Recorded:
    """A generator that keeps what every run asks of it; `open` counts the calls under way in a run."""

    generator: Generator
    runs: list[list[list[Call]]] = field(default_factory=list)
    under_way: dict[int, int] = field(default_factory=dict)

    @property
    def capabilities(self) -> Capabilities:
        """Those of the generator."""
        return self.generator.capabilities

    def count_tokens(self, text: str) -> int:
        """As the generator."""
        return self.generator.count_tokens(text)

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        """As `Generator.generate`; kept."""
        return await self._kept(lambda generator: generator.generate(prompts, max_tokens))

    async def rollout(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        """As `Generator.rollout`; kept."""
        return await self._kept(lambda generator: generator.rollout(prompts, max_tokens, top_k))

    async def score(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[float, ...]]:
        """As `Generator.score`; kept."""
        return await self._kept(lambda generator: generator.score(prompt, continuations))

    async def _kept(self, call: Call) -> Any:
        groups = RUN.get()
        if self.under_way.get(id(groups), 0) and groups:
            groups[-1].append(call)
        else:
            groups.append([call])
        self.under_way[id(groups)] = self.under_way.get(id(groups), 0) + 1
        try:
            return await call(self.generator)
        finally:
            self.under_way[id(groups)] -= 1


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the comparison: wall-clock and processor seconds."""

    wall: float
    processor: float


async def timed(work: Awaitable[object]) -> Side:
    """How long the work took."""
    wall, processor = time.perf_counter(), time.process_time()
    await work
    return Side(time.perf_counter() - wall, time.process_time() - processor)


async def at_once(users: int, items: Sequence[Any], work: Callable[[Any], Awaitable[object]]) -> None:
    """`users` workers take the items one after another."""
    waiting = list(reversed(items))

    async def user() -> None:
        while waiting:
            await work(waiting.pop())

    await asyncio.gather(*(user() for _ in range(users)))


def forgetful(generator: TransformersGenerator) -> TransformersGenerator:
    """The same weights, no prompt remembered yet."""
    return TransformersGenerator(
        generator._loaded, threads=available_threads(), batch_tokens=8192, prefix_tokens=PREFIX_TOKENS
    )


@contextmanager
def serving(settings: Settings, tools: Tools, recorded: Recorded):
    """The service on a thread; every run's calls of the generator are kept."""
    service = open_service(settings, tools)

    class Kept:
        async def answer(self, *arguments: Any) -> Any:
            groups: list[list[Call]] = []
            recorded.runs.append(groups)
            RUN.set(groups)
            return await service.controller.answer(*arguments)

    with bind(settings.service) as bound:
        server = Server(replace(service, controller=Kept()))
        thread = Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def questions() -> list[str]:
    """Those that the handbook answers."""
    rows = map(json.loads, (HANDBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    return [row["question"] for row in rows if row["supporting"]]


async def throughput(users: int, each: int, passages: int, folder: Path) -> bool:
    """Ask, replay, and print both; True where the target is met."""
    EmbeddedIndex.build(folder / "index", read_corpus([HANDBOOK]))
    settings = load(
        [
            f"index.path={folder / 'index'}",
            f"cache.folder={folder / 'cache'}",
            "service.port=0",
            f"service.concurrent={users}",
            f"index.passages_per_round={passages}",
            "budget.seconds=3600",
        ],
        environment={},
    ).settings
    tools = load_tools(settings)
    assert isinstance(tools.generator, TransformersGenerator)
    loaded = tools.generator
    asked = (questions() * (1 + users * each // 20))[: users * each]
    answers: list[dict[str, Any]] = []
    recorded = Recorded(forgetful(loaded))
    with serving(settings, replace(tools, generator=recorded), recorded) as url:
        async with httpx.AsyncClient(timeout=None) as client:

            async def ask(question: str) -> None:
                response = await client.post(f"{url}/v1/answer", json={"question": question})
                answers.append(response.raise_for_status().json())

            recorded.generator = forgetful(loaded)
            await ask("What is the laptop policy?")  # the first run of a process is slow
            recorded.generator, recorded.runs[:] = forgetful(loaded), []
            answers.clear()
            service = await timed(at_once(users, asked, ask))
    bare = forgetful(loaded)

    async def replay(groups: list[list[Call]]) -> None:
        for group in groups:
            await asyncio.gather(*(call(bare) for call in group))

    alone = await timed(at_once(users, recorded.runs, replay))
    return report(users, answers, service, alone)


def report(users: int, answers: Sequence[dict[str, Any]], service: Side, alone: Side) -> bool:
    """Print both sides; True where the target is met."""
    tokens = int(sum(answer["budget"]["spent"]["generated_tokens"] for answer in answers))
    ended = sum(answer["action"] == "answer" for answer in answers)
    print(f"{users} users, {len(answers)} questions ({ended} answered), {tokens} generated tokens")
    for name, side in (("service", service), ("bare generator", alone)):
        print(
            f"  {name:<15} {side.wall:6.1f} s  {len(answers) / side.wall:6.3f} questions/s  "
            f"{tokens / side.wall:6.1f} tokens/s  {side.processor:6.1f} processor seconds"
        )
    ratio = alone.wall / service.wall
    met = ratio >= TARGET
    print(
        f"throughput of the service / of the bare generator  {ratio:.2f}   target >= {TARGET}   "
        f"{'met' if met else 'MISSED'}"
    )
    print(f"  the same by processor time                       {alone.processor / service.processor:.2f}")
    return met


def main() -> bool:
    """Either mode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--users", type=int, default=8, help="users at once")
    parser.add_argument("--questions", type=int, default=2, help="questions each")
    parser.add_argument("--passages", type=int, default=8, help="passages a round")
    parser.add_argument("--minutes", type=float, help="soak for so long instead")
    options = parser.parse_args()
    store.install("smollm2-135m-instruct")
    store.install("all-minilm-l6-v2")
    with tempfile.TemporaryDirectory() as folder:
        if options.minutes is not None:
            from soaking.load import soak  # noqa: PLC0415  the other mode needs none of it

            return asyncio.run(soak(options.minutes * 60, Path(folder)))
        return asyncio.run(throughput(options.users, options.questions, options.passages, Path(folder)))


if __name__ == "__main__":
    raise SystemExit(not main())
