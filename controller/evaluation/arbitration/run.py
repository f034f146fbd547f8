"""Arbitration of what a RAG pipeline answered, question by question (TrustMargin section 5.3); resumable."""

import asyncio
import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ....policies.answering import AnswerPrompts, PromptWriter
from ....policies.trustmargin import ScoredViews, TrustMargin, TrustMarginSettings, same_answer
from ....policies.types import Verdict
from ....tools.errors import InputError, ModelOutputError, ToolError, UsageError
from ....tools.normalisation import is_blank
from ....tools.protocols import Generator
from ....tools.types import Generation, Passage, Prompt
from ...loading import load_generator
from ...settings import Settings
from ..contrasts.scoring import Progress
from .cases import Case, Cases
from .rows import ArbitrationHeader, ArbitrationRow, RowFile


@dataclass(frozen=True, slots=True)
class Bench:
    """What is the same for all questions.

    `at_once` questions run concurrently, which shares batches but makes their times overlap.
    """

    generator: Generator
    prompts: AnswerPrompts
    answer_tokens: int
    trustmargin: TrustMarginSettings
    at_once: int = 1


@dataclass(slots=True)
class _Progress:
    """How far one question has come; what was not reached is None."""

    direct: Generation | None = None
    rag: Generation | None = None
    read: tuple[Passage, ...] = ()
    verdict: Verdict | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] = time.perf_counter() - began


def load_arbitration(settings: Settings, cases: Cases, at_once: int = 1) -> tuple[Bench, ArbitrationHeader]:
    """Load the generator, and nothing else; the header says what decides.

    Raises UsageError where something is missing or does not fit, CapabilityError where the generator cannot
    score given answers.
    """
    if settings.trustmargin.always is not None:
        raise UsageError("trustmargin.always leaves nothing to arbitrate; unset it")
    chosen = settings.generator
    generator = load_generator(settings)
    bench = Bench(generator, settings.prompts, chosen.answer_tokens, settings.trustmargin, at_once)
    _arbiter(bench)
    header = ArbitrationHeader(
        generator=f"{chosen.backend} {generator.capabilities.model}",
        prompts=hashlib.sha256(settings.prompts.model_dump_json().encode()).hexdigest()[:16],
        answer_tokens=chosen.answer_tokens,
        trustmargin=settings.trustmargin,
        source={"format": cases.format, "questions": cases.digest},
    )
    return bench, header


async def run_cases(
    bench: Bench,
    cases: Sequence[Case],
    header: ArbitrationHeader,
    path: Path,
    progress: Progress,
) -> list[ArbitrationRow]:
    """Arbitrate what the file at `path` does not hold yet, and write it there, each row durable.

    What failed in an earlier run is tried again. Raises InputError where the file is another run's,
    StorageError where the disk refuses, ModelOutputError where not one question could be arbitrated.
    """
    with RowFile(path, header) as file:
        left = [case for case in cases if (case.id, "") not in file.done]
        progress(len(cases) - len(left), len(cases))
        for start in range(0, len(left), bench.at_once):
            batch = left[start : start + bench.at_once]
            for row in await asyncio.gather(*(arbitrated(bench, case) for case in batch)):
                file.add(row)
            progress(len(cases) - len(left) + start + len(batch), len(cases))
        rows = [file.done[case.id, ""] for case in cases]
    if rows and all(row.error for row in rows):
        raise ModelOutputError(f"no question could be arbitrated; the first: {rows[0].error}")
    return rows


async def arbitrated(bench: Bench, case: Case) -> ArbitrationRow:
    """One question, its missing answers written first. What fails makes a row that says so."""
    found, error = _Progress(), ""
    try:
        await _decide(bench, case, found)
    except (InputError, ModelOutputError, ToolError) as failure:
        error = str(failure).partition("\n")[0]
    return ArbitrationRow(
        id=case.id,
        question=case.question,
        answers=case.answers,
        direct=found.direct.text if found.direct else case.direct,
        rag=found.rag.text if found.rag else case.rag,
        direct_tokens=_tokens(bench, found.direct),
        rag_tokens=_tokens(bench, found.rag),
        passages=len(found.read),
        verdict=found.verdict,
        seconds=found.seconds,
        error=error,
    )


async def _decide(bench: Bench, case: Case, found: _Progress) -> None:
    writer = PromptWriter(bench.generator, bench.prompts)
    found.read = writer.fit(case.passages)
    if case.direct is not None:
        found.direct = _given(case.direct)
    else:
        with found.timed("direct"):
            found.direct = await _written(bench, writer.question_only(case.question))
    if case.rag is not None:
        found.rag = _given(case.rag)
        _check_evidence(case, found.direct, found.read)
    elif not found.read:
        found.rag = found.direct
    else:
        with found.timed("rag"):
            found.rag = await _written(bench, writer.question_context(case.question, found.read))
    with found.timed("scoring"):
        found.verdict = await _arbiter(bench).choose(case.question, found.read, found.direct, found.rag)


async def _written(bench: Bench, prompt: Prompt) -> Generation:
    (answer,) = await bench.generator.generate([prompt], bench.answer_tokens)
    return answer


def _arbiter(bench: Bench) -> TrustMargin:
    return TrustMargin(ScoredViews(bench.generator, bench.prompts), bench.trustmargin)


def _given(text: str) -> Generation:
    return Generation(text, (), (), "stop", 0)


def _check_evidence(case: Case, direct: Generation, read: Sequence[Passage]) -> None:
    """Refuse a given RAG answer for which two of the three views would be empty."""
    rag = case.rag or ""
    if read or is_blank(rag) or same_answer(direct.text, rag):
        return
    raise InputError(
        "the RAG answer is given, but no passage fits prompts.context_tokens: its views cannot be measured"
        if case.passages
        else "the RAG answer is given, but no passage: its views cannot be measured"
    )


def _tokens(bench: Bench, answer: Generation | None) -> int:
    """Tokens of an answer as it is scored."""
    if answer is None or is_blank(answer.text):
        return 0
    return bench.generator.count_tokens(bench.prompts.lead + answer.text)
