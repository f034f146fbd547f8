"""An evaluation run without models, in this process or, to be killed, in one of its own.

As a program: `evaluations.py OUT --delay SECONDS --workers N --questions N --file-limit BYTES`, and
`--retry-failed`.
"""

import argparse
import asyncio
import json
import resource
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.evaluation.datasets.questions import Question
from sufficit.controller.evaluation.runs.agents import ControllerAgent, Engine, LocalEngine
from sufficit.controller.evaluation.runs.configurations import Configuration
from sufficit.controller.evaluation.runs.finished import Outcome, outcome
from sufficit.controller.evaluation.runs.folder import DataHeader
from sufficit.controller.evaluation.runs.rows import Hashes, PredictionRow
from sufficit.controller.evaluation.runs.run import Evaluation, evaluate
from sufficit.controller.settings import load, settings_hash
from sufficit.controller.trace import without_times
from sufficit.tools.errors import ToolError
from sufficit.tools.types import Generation, Passage, Prompt

TOO_LONG = "Why is this question " + "so " * 2000 + "long?"


@dataclass
class SlowGenerator(ScriptedGenerator):
    """Answers every prompt with its question's number, after a while."""

    delay: float = 0.0

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        await asyncio.sleep(self.delay)
        return [
            replace(answer, prompt_tokens=self.count_tokens(prompt.text))
            for answer, prompt in zip(await super().generate(prompts, max_tokens), prompts, strict=True)
        ]


def configuration(name: str = "full", *assignments: str, data: str = "d" * 64) -> Configuration:
    settings = load(assignments, environment={}).settings
    hashes = Hashes(settings=settings_hash(settings), artifact="a" * 64, index="i" * 64, data=data)
    return Configuration(name, settings, hashes)


def evaluation(count: int = 12, *configurations: Configuration, data: str = "d" * 64) -> Evaluation:
    """`count` questions, of which the third is too long to be asked."""
    questions = tuple(
        Question(f"q {n}", TOO_LONG if n == 2 else f"What is number {n}?", (f"{n}",), {"doc0.md": 1})
        for n in range(count)
    )
    header = DataHeader(file="q.jsonl", format="plain JSON", hash=data, questions=count)
    return Evaluation(header, questions, configurations or (configuration(data=data),))


@dataclass(frozen=True)
class Scripted:
    """Makes agents over a generator that takes its time."""

    delay: float = 0.0

    def __call__(self, chosen: Configuration) -> ControllerAgent:
        texts = passages("Number one is 1.", "Number two is 2.", "Nothing.")
        made = controller(
            FixedSearch(lambda query: list(texts)),
            FixedSufficiency(lambda found: 1.0),
            SlowGenerator(answer=lambda prompt: str(len(prompt.text) % 7), delay=self.delay),
            chosen.settings,
        )
        return ControllerAgent(made, chosen.name, chosen.hashes, {"generator": "scripted"})


@dataclass(frozen=True)
class Down:
    """Makes agents whose tools are out of reach for some questions."""

    questions: frozenset[str]

    def __call__(self, chosen: Configuration) -> "DownAgent":
        return DownAgent(Scripted()(chosen), self.questions)


def broken(chosen: Configuration) -> ControllerAgent:
    """An agent whose search fails: every question abstains after a fault."""

    def fail(query: str) -> list[Passage]:
        raise ToolError("the index is away")

    search, judge = FixedSearch(fail), FixedSufficiency(lambda found: float(len(found)) - 1)
    made = controller(search, judge, SlowGenerator(answer=lambda prompt: ""), chosen.settings)
    return ControllerAgent(made, chosen.name, chosen.hashes, {"generator": "scripted"})


@dataclass(frozen=True)
class DownAgent:
    agent: ControllerAgent
    questions: frozenset[str]

    @property
    def models(self) -> Mapping[str, str]:
        return self.agent.models

    async def ask(self, question: Question) -> Outcome:
        if question.id not in self.questions:
            return await self.agent.ask(question)
        return outcome(self.agent.config, self.agent.hashes, question, (), ToolError("out of reach"))


class Silent:
    """A watcher that keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def loading(self, config: str) -> None:
        self.told.append(("loading", config))

    def begin(self, config: str, done: Any, total: int) -> None:
        self.told.append(("begin", config, len(done), total))

    def add(self, config: str, row: PredictionRow) -> None:
        self.told.append((config, row.id))


def run(chosen: Evaluation, out: Path, engine: Engine | None = None) -> list[Any]:
    """Run it; returns what the watcher was told."""
    watcher = Silent()
    asyncio.run(evaluate(chosen, out, engine or LocalEngine(1, Scripted()), watcher))
    return watcher.told


def contents(out: Path) -> dict[str, Any]:
    """Every file of a run by its name, without times; JSON read, locks left out."""
    found: dict[str, Any] = {}
    for file in sorted(out.rglob("*")):
        if file.is_file() and file.name != ".lock":
            text = file.read_text()
            lines = text.splitlines() if file.suffix == ".jsonl" else []
            found[str(file.relative_to(out))] = [without_times(json.loads(line)) for line in lines] or text
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--file-limit", type=int)
    parser.add_argument("--retry-failed", action="store_true")
    given = parser.parse_args()
    if given.file_limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (given.file_limit, given.file_limit))
    wanted = replace(evaluation(given.questions), retry_failed=given.retry_failed)
    run(wanted, given.out, LocalEngine(given.workers, Scripted(given.delay)))
