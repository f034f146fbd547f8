"""What pruning buys: every method on every question, from the same candidates; resumable after each question.

Only the pruner differs between methods. The final prompt, the generator and the candidates are the same, and
one question's prompts are never asked twice.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ....policies.answering import AnswerPrompts, PromptWriter
from ....policies.igp import IGPSettings
from ....policies.probing import RolloutProbe
from ....tools.errors import InputError, ModelOutputError
from ....tools.normalisation import f1
from ....tools.protocols import Generator, Retriever
from ....tools.types import Passage
from ..contrasts.scores import Finite
from ..contrasts.scoring import Progress
from ..datasets.questions import Question
from ..journal import Journal
from ..remembering import WidestRollouts
from .pruners import Method, Models


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PruningHeader(_Frozen):
    """What ran. A file goes on only under the same header. `plan` lists method and M of every cell."""

    version: int = 1
    generator: str
    models: dict[str, str]
    candidates: int
    answer_tokens: int
    settings: str
    plan: tuple[tuple[str, int], ...]


class Cell(_Frozen):
    """One method at one M on one question.

    `admitted` counts passages, `tokens` those of the final prompt, `f1` is the answer's in [0, 1]; `ndcg` is
    that of the admitted list at M, None without relevance labels.
    """

    method: str
    top_m: int
    admitted: int
    tokens: int
    answer: str
    f1: Finite
    ndcg: Finite | None


class PruningRow(_Frozen):
    """One question, or why it could not be run."""

    question: str
    candidates: int = 0
    cells: tuple[Cell, ...] = ()
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """All that stays the same: the tools, the settings, and the plan, methods with their M."""

    retriever: Retriever
    generator: Generator
    models: Models
    igp: IGPSettings
    prompts: AnswerPrompts
    answer_tokens: int
    candidates: int
    plan: tuple[tuple[Method, int], ...]

    @property
    def largest(self) -> tuple[int, int]:
        """The largest MT and K of the plan: rollouts are made once with them."""
        chosen = [method.settings(self.igp, top_m) for method, top_m in self.plan]
        return max(s.max_tokens for s in chosen), max(s.top_k for s in chosen)


async def run_bench(
    bench: Bench, questions: Sequence[Question], header: PruningHeader, path: Path, progress: Progress
) -> list[PruningRow]:
    """Run what the file at `path` does not hold yet, and write it there, each question durable.

    Raises InputError where the file is another run's, StorageError where the disk refuses, CapabilityError
    where a method needs what the generator lacks.
    """
    with Journal(path, header.model_dump(mode="json")) as journal:
        done = {str(row["question"]): PruningRow.model_validate(row) for row in journal.rows}
        for count, question in enumerate(questions):
            progress(count, len(questions))
            if question.id not in done:
                done[question.id] = await _row(bench, question)
                journal.append([done[question.id].model_dump(mode="json")])
        progress(len(questions), len(questions))
    return [done[question.id] for question in questions]


async def _row(bench: Bench, question: Question) -> PruningRow:
    try:
        passages = await bench.retriever.search(question.text, bench.candidates)
        cells = await _cells(bench, question, passages)
    except (InputError, ModelOutputError) as error:
        return PruningRow(question=question.id, skipped=str(error).partition("\n")[0])
    return PruningRow(question=question.id, candidates=len(passages), cells=tuple(cells))


async def _cells(bench: Bench, question: Question, passages: Sequence[Passage]) -> list[Cell]:
    """Prune by every method, then write all answers in one call."""
    max_tokens, top_k = bench.largest
    memory = WidestRollouts(bench.generator, max_tokens=max_tokens, top_k=top_k)
    writer = PromptWriter(memory, bench.prompts)
    chosen = [await _admitted(bench, memory, question.text, passages, entry) for entry in bench.plan]
    prompts = [writer.question_context(question.text, admitted) for admitted in chosen]
    answers = await memory.generate(prompts, bench.answer_tokens)
    return [
        Cell(
            method=method.name,
            top_m=top_m,
            admitted=len(admitted),
            tokens=answer.prompt_tokens,
            answer=answer.text,
            f1=f1(answer.text, question.answers),
            ndcg=ndcg(admitted, question.relevant, top_m),
        )
        for (method, top_m), admitted, answer in zip(bench.plan, chosen, answers, strict=True)
    ]


async def _admitted(
    bench: Bench,
    memory: WidestRollouts,
    question: str,
    passages: Sequence[Passage],
    entry: tuple[Method, int],
) -> list[Passage]:
    method, top_m = entry
    settings = method.settings(bench.igp, top_m)
    probe = RolloutProbe(memory, settings)
    pruner = method.build(probe, memory, bench.models, settings)
    report = await pruner.prune(question, passages, await probe.baseline(question))
    by_key = {passage.key: passage for passage in passages}
    return [by_key[key] for key in report.admitted]


def ndcg(admitted: Iterable[Passage], relevant: Mapping[str, int], depth: int) -> float | None:
    """NDCG@depth in [0, 1] of the documents of a list, gains 2^grade - 1 (IGP, section 4.1.6).

    A document counts once, where it first occurs; a grade under 0 counts as 0. None where nothing is judged
    relevant.
    """
    documents = dict.fromkeys(passage.source or passage.id for passage in admitted)
    best = sorted((grade for grade in relevant.values() if grade > 0), reverse=True)
    if not best:
        return None
    grades = [max(0, relevant.get(name, 0)) for name in documents]
    return _dcg(grades[:depth]) / _dcg(best[:depth])


def _dcg(grades: Iterable[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
