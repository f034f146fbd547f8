"""TrustMargin on a question file: both answers, six likelihoods and the verdict, a durable row a question.

A trial is one way in which every question is run: by one pipeline, on a pool of which a share is random
passages. All trials of a question share its closed-book answer; everything else is done, and timed, anew.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ....policies.answering import AnswerPrompts
from ....policies.trustmargin import ScoredViews, TrustMargin, TrustMarginSettings
from ....policies.types import Verdict
from ....tools.errors import InputError, ModelOutputError, ToolError
from ....tools.protocols import Generator, Retriever
from ....tools.types import Generation, Passage
from ...strategies.build import build_strategy
from ...strategies.short_answers import ShortAnswers
from ...strategies.strategy import Strategy
from ..contrasts.scoring import Progress
from ..datasets.questions import Question
from .corruption import CorruptedRetriever
from .plan import Trial
from .rows import ArbitrationHeader, ArbitrationRow, RowFile


@dataclass(frozen=True, slots=True)
class Benchmark:
    """All that stays the same: the tools, how they are used, and the trials.

    `passages` are asked of the retriever for a question; `noise` holds the random passages, from which each
    question's are drawn by `seed`.
    """

    retriever: Retriever
    generator: Generator
    prompts: AnswerPrompts
    answer_tokens: int
    trustmargin: TrustMarginSettings
    trials: tuple[Trial, ...]
    passages: int = 20
    noise: tuple[Passage, ...] = ()
    seed: int = 17

    @property
    def answers(self) -> ShortAnswers:
        """Writes both answers."""
        return ShortAnswers.by(self.generator, self.prompts, self.answer_tokens)


async def run_benchmark(
    bench: Benchmark, questions: Sequence[Question], header: ArbitrationHeader, path: Path, progress: Progress
) -> list[ArbitrationRow]:
    """Run what the file at `path` does not hold yet, and write it there, each row durable.

    Rows that failed are run again. Returns every question's rows of all trials. Raises InputError where the
    file is another run's, StorageError where the disk refuses, UsageError where the setup cannot work.
    """
    wanted = [(question.id, trial.variant) for question in questions for trial in bench.trials]
    with RowFile(path, header) as file:
        done = sum(key in file.done for key in wanted)
        progress(done, len(wanted))
        for question in questions:
            left = [trial for trial in bench.trials if (question.id, trial.variant) not in file.done]
            case = _Case(bench, question)
            for trial in left:
                file.add(await case.row(trial))
                done += 1
                progress(done, len(wanted))
        return [file.done[key] for key in wanted]


@dataclass(slots=True)
class _Seconds:
    """Wall-clock time by part."""

    parts: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.parts[name] = self.parts.get(name, 0.0) + time.perf_counter() - began


@dataclass(frozen=True, slots=True)
class _Timed:
    """A retriever on the clock."""

    retriever: Retriever
    seconds: _Seconds

    async def search(self, query: str, k: int) -> list[Passage]:
        with self.seconds.part("retrieval"):
            return await self.retriever.search(query, k)


@dataclass(slots=True)
class _Found:
    """What one trial has come to so far."""

    direct: Generation | None = None
    rag: Generation | None = None
    read: tuple[Passage, ...] = ()
    verdict: Verdict | None = None
    error: str = ""


@dataclass(slots=True)
class _Case:
    """One question; the closed-book answer is written once."""

    bench: Benchmark
    question: Question
    direct: Generation | None = None
    direct_seconds: float = 0.0

    async def row(self, trial: Trial) -> ArbitrationRow:
        """Run one trial; what a question or a tool makes fail is in the row."""
        seconds, found = _Seconds(), _Found()
        try:
            await self._run(trial, seconds, found)
        except (InputError, ModelOutputError, ToolError) as error:
            found.verdict, found.error = None, str(error).partition("\n")[0] or type(error).__name__
        return ArbitrationRow(
            id=self.question.id,
            variant=trial.variant,
            question=self.question.text,
            answers=self.question.answers,
            direct=found.direct.text if found.direct else None,
            rag=found.rag.text if found.rag else None,
            direct_tokens=self._tokens(found.direct),
            rag_tokens=self._tokens(found.rag),
            passages=len(found.read),
            verdict=found.verdict,
            seconds=seconds.parts,
            error=found.error,
        )

    async def _run(self, trial: Trial, seconds: _Seconds, found: _Found) -> None:
        bench, text = self.bench, self.question.text
        if self.direct is None:
            began = time.perf_counter()
            self.direct = await bench.answers.closed_book(text)
            self.direct_seconds = time.perf_counter() - began
        found.direct, seconds.parts["direct"] = self.direct, self.direct_seconds
        with seconds.part("rag"):
            found.rag, found.read = await self._strategy(trial, seconds).answer(text)
        # What the pipeline spent on searches is a part of its own.
        seconds.parts["rag"] -= seconds.parts.get("retrieval", 0.0)
        arbiter = TrustMargin(ScoredViews(bench.generator, bench.prompts), bench.trustmargin)
        with seconds.part("scoring"):
            found.verdict = await arbiter.choose(text, found.read, found.direct, found.rag)

    def _strategy(self, trial: Trial, seconds: _Seconds) -> Strategy:
        bench = self.bench
        retriever: Retriever = bench.retriever
        if trial.share:
            retriever = CorruptedRetriever(retriever, bench.noise, trial.share, bench.seed)
        return build_strategy(trial.pipeline, _Timed(retriever, seconds), bench.answers, bench.passages)

    def _tokens(self, answer: Generation | None) -> int:
        """Length of an answer as it is scored."""
        if answer is None or not answer.text:
            return 0
        return self.bench.generator.count_tokens(self.bench.prompts.lead + answer.text)
