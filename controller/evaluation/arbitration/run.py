"""Arbitration of what a RAG pipeline answered, question by question (TrustMargin section 5.3); resumable."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ....policies.answering import AnswerPrompts
from ....policies.trustmargin import ScoredViews, TrustMarginSettings, same_answer
from ....tools.errors import InputError, ModelOutputError, UsageError
from ....tools.normalisation import is_blank
from ....tools.protocols import Generator
from ....tools.types import Generation, Passage
from ...loading import load_generator
from ...settings import Settings
from ...strategies.short_answers import ShortAnswers
from ..contrasts.scoring import Progress
from .attempt import Attempt
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
    # What the generator lacks is refused before the first question.
    ScoredViews(generator, settings.prompts)
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
    found = Attempt(bench.generator, bench.prompts, _given(case.direct), _given(case.rag))
    with found.failing_alone():
        await _decide(bench, case, found)
    return found.row(case.id, case.question, case.answers)


async def _decide(bench: Bench, case: Case, found: Attempt) -> None:
    answers = ShortAnswers.by(bench.generator, bench.prompts, bench.answer_tokens)
    found.read = answers.writer.fit(case.passages)
    if found.direct is None:
        with found.timed("direct"):
            found.direct = await answers.closed_book(case.question)
    if found.rag is not None:
        _check_evidence(case, found.direct, found.rag, found.read)
    elif not found.read:
        found.rag = found.direct
    else:
        with found.timed("rag"):
            found.rag, _ = await answers.from_passages(case.question, found.read)
    await found.judge(case.question, found.direct, found.rag, bench.trustmargin)


def _given(text: str | None) -> Generation | None:
    return None if text is None else Generation(text, (), (), "stop", 0)


def _check_evidence(case: Case, direct: Generation, rag: Generation, read: Sequence[Passage]) -> None:
    """Refuse a given RAG answer that the margins must judge, if two of the three views would be empty."""
    if read or is_blank(direct.text) or is_blank(rag.text) or same_answer(direct.text, rag.text):
        return
    raise InputError(
        "the RAG answer is given, but no passage fits prompts.context_tokens: its views cannot be measured"
        if case.passages
        else "the RAG answer is given, but no passage: its views cannot be measured"
    )
