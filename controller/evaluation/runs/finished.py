"""From the trace of one question to its row."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....tools.types import Passage
from ...answer import Answer, Citation, Evidence
from ...tape import stage_of
from ...trace import Event, Fault, Finished, Retrieved, Wrote, to_json
from ..datasets.questions import Question
from .rows import FoundPassage, Hashes, PredictionRow, StageCost


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question under one configuration: its row, and its trace as a line of traces.jsonl."""

    row: PredictionRow
    trace: str


def outcome(
    config: str, hashes: Hashes, question: Question, events: Sequence[Event], error: Exception | None = None
) -> Outcome:
    """What `events`, all that happened until the answer or the `error`, come to."""
    answer = next((event.answer for event in events if isinstance(event, Finished)), None)
    row = PredictionRow(
        config=config,
        id=question.id,
        question=question.text,
        answers=question.answers,
        answerable=question.answerable,
        support=tuple(name for name, grade in question.relevant.items() if grade > 0) or None,
        hashes=hashes,
        **_of_events(events),
        **(_failed(events, error) if error or answer is None else _of_answer(answer, events)),
    )
    header = {"id": row.id, "config": config, "hashes": hashes.model_dump()}
    line = json.dumps({**header, "events": [to_json(event) for event in events]}, ensure_ascii=True)
    return Outcome(row, line + "\n")


def _of_events(events: Sequence[Event]) -> dict[str, Any]:
    """What was found and what it cost, whatever came of it."""
    rounds = [event.passages for event in events if isinstance(event, Retrieved)]
    faults = [event for event in events if isinstance(event, Fault)]
    return {
        "retrieved": tuple(tuple(map(_found, passages)) for passages in rounds),
        "pool": tuple(map(_found, _pool(events))),
        "stages": _stages(events),
        "faults": tuple(f"{fault.stage}: {fault.error}: {fault.message}" for fault in faults),
    }


def _failed(events: Sequence[Event], error: Exception | None) -> dict[str, Any]:
    return {
        "action": "failed",
        "timings": {"total": events[-1].at} if events else {},
        "error": f"{type(error).__name__}: {error}" if error else "the run came to no end",
    }


def _of_answer(answer: Answer, events: Sequence[Event]) -> dict[str, Any]:
    """The fields that the answer gives."""
    pool = {passage.key: passage for passage in _pool(events)}
    read = next((event.read for event in events if isinstance(event, Wrote)), ())
    report = answer.sufficiency
    return {
        "action": answer.action,
        "answer": answer.answer,
        "source": answer.source,
        "grounded": answer.grounded,
        "reason": answer.reason,
        "score": report.score if report else None,
        "threshold": report.threshold if report else None,
        "direct": answer.candidates.direct,
        "rag": answer.candidates.rag,
        "citations": tuple(map(_found, answer.citations)),
        "admitted": tuple(_found(evidence) for evidence in answer.evidence if evidence.admitted),
        "read": tuple(_found(pool[key]) for key in read),
        "spent": {limit: int(amount) for limit, amount in answer.budget.spent.items() if limit != "seconds"},
        "timings": answer.timings,
        "trace_id": answer.trace_id,
    }


def _found(passage: Passage | Evidence | Citation) -> FoundPassage:
    return FoundPassage(source=passage.source, id=passage.id, title=passage.title)


def _pool(events: Sequence[Event]) -> list[Passage]:
    """The evidence pool, first found first."""
    pool: list[Passage] = []
    for event in events:
        if isinstance(event, Retrieved):
            by_key = {passage.key: passage for passage in reversed(event.passages)}
            pool += [by_key[key] for key in event.new]
    return pool


def _stages(events: Sequence[Event]) -> dict[str, StageCost]:
    """The cost of every stage that came to anything, in the order in which they did."""
    found: dict[str, dict[str, int]] = defaultdict(lambda: StageCost().model_dump())
    for event in events:
        stage = stage_of(event)
        if stage is None:
            continue
        total = found[stage]
        for name in total:
            total[name] += event.cost.get(name, 0)
    return {stage: StageCost(**total) for stage, total in found.items()}
