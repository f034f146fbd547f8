"""TrustMargin on a question file: both answers, six likelihoods and the verdict, a durable row a question.

A trial is one way in which every question is run: by one pipeline, on a pool of which a share is random
passages. All trials of a question share its closed-book answer; everything else is done, and timed, anew.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ....policies.answering import AnswerPrompts
from ....policies.trustmargin import TrustMarginSettings
from ....tools.protocols import Generator, Retriever
from ....tools.types import Generation, Passage
from ...strategies.build import build_strategy
from ...strategies.short_answers import ShortAnswers
from ...strategies.strategy import Strategy
from ..contrasts.scoring import Progress
from ..datasets.questions import Question
from .attempt import Attempt
from .corruption import CorruptedRetriever
from .plan import Trial
from .rows import ArbitrationHeader, ArbitrationRow, RowFile


@dataclass(frozen=True, slots=True)
class Benchmark:
    """All that stays the same: the tools, how they are used, and the trials.

    `passages` are asked of the retriever for a question; `noise` holds the random passages, from which each
    question's are drawn by `seed`. `at_once` questions run together, which shares batches.
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
    at_once: int = 1

    @property
    def answers(self) -> ShortAnswers:
        """Writes both answers."""
        return ShortAnswers.by(self.generator, self.prompts, self.answer_tokens)


async def run_benchmark(
    bench: Benchmark, questions: Sequence[Question], header: ArbitrationHeader, path: Path, progress: Progress
) -> list[ArbitrationRow]:
    """Run what the file at `path` does not hold yet, and write it there, each row durable.

    Rows that failed are run again. Rows of questions that ran together have no seconds. Returns every
    question's rows of all trials. Raises InputError where the file is another run's, StorageError where the
    disk refuses, UsageError where the setup cannot work.
    """
    wanted = [(question.id, trial.variant) for question in questions for trial in bench.trials]
    with RowFile(path, header) as file:
        done = sum(key in file.done for key in wanted)
        progress(done, len(wanted))

        async def run(question: Question) -> None:
            nonlocal done
            case = _Case(bench, question)
            for trial in bench.trials:
                if (question.id, trial.variant) not in file.done:
                    file.add(await case.row(trial))
                    done += 1
                    progress(done, len(wanted))

        for start in range(0, len(questions), bench.at_once):
            await asyncio.gather(*map(run, questions[start : start + bench.at_once]))
        return [file.done[key] for key in wanted]


@dataclass(frozen=True, slots=True)
class _Timed:
    """A retriever on the clock."""

    retriever: Retriever
    attempt: Attempt

    async def search(self, query: str, k: int) -> list[Passage]:
        with self.attempt.timed("retrieval"):
            return await self.retriever.search(query, k)


@dataclass(slots=True)
class _Case:
    """One question; the closed-book answer is written once."""

    bench: Benchmark
    question: Question
    direct: Generation | None = None
    direct_seconds: float = 0.0

    async def row(self, trial: Trial) -> ArbitrationRow:
        """Run one trial; what a question or a tool makes fail is in the row."""
        found = Attempt(self.bench.generator, self.bench.prompts)
        with found.failing_alone():
            await self._run(trial, found)
        if self.bench.at_once > 1:
            found.seconds.clear()  # most of them were spent waiting for each other
        return found.row(self.question.id, self.question.text, self.question.answers, trial.variant)

    async def _run(self, trial: Trial, found: Attempt) -> None:
        bench, text = self.bench, self.question.text
        if self.direct is None:
            began = time.perf_counter()
            self.direct = await bench.answers.closed_book(text)
            self.direct_seconds = time.perf_counter() - began
        found.direct, found.seconds["direct"] = self.direct, self.direct_seconds
        with found.timed("rag"):
            found.rag, found.read = await self._strategy(trial, found).answer(text)
        # What the pipeline spent on searches is a part of its own.
        found.seconds["rag"] -= found.seconds.get("retrieval", 0.0)
        await found.judge(text, found.direct, found.rag, bench.trustmargin)

    def _strategy(self, trial: Trial, found: Attempt) -> Strategy:
        bench = self.bench
        retriever: Retriever = bench.retriever
        if trial.share:
            retriever = CorruptedRetriever(retriever, bench.noise, trial.share, bench.seed)
        return build_strategy(trial.pipeline, _Timed(retriever, found), bench.answers, bench.passages)
