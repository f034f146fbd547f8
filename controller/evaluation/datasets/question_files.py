"""A question file of whichever data set, as `sufficit eval run` asks it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ....tools.errors import InputError
from ....tools.retrievers.trec import read_qrels
from .examples import Example
from .formats import FORMATS
from .questions import Question, check_ids, questions_of, read_items, readable
from .sources import BadRow, read_source

# Formats without passages, each with fields that tell it; what has none of them is plain.
_PLAIN: Sequence[tuple[str, frozenset[str]]] = (
    ("FlashRAG", frozenset({"question", "golden_answers"})),
    ("BEIR", frozenset({"_id", "text"})),
    ("TrustMargin", frozenset({"test_id", "question", "answer"})),
    ("PopQA", frozenset({"question", "possible_answers"})),
)
_NQ_OPEN = frozenset({"question", "answer"})
_COARSE = frozenset({"SQuAD 2.0"})
"""Formats whose titles name whole articles: too coarse to say which passages a question needs."""

Grades = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """What the file of this `name` held.

    `digest` is the SHA-256 of the file and of its relevance labels. `questions` stand in the file's order,
    each with an answer, or known to have none. `unscored` are ids of questions that were left out because
    nothing says what their answer is, `bad` are rows that were left out.
    """

    name: str
    format: str
    digest: str
    questions: tuple[Question, ...]
    unscored: tuple[str, ...] = ()
    bad: tuple[BadRow, ...] = ()


def read_question_file(file: Path, qrels: Path | None = None) -> QuestionFile:
    """Read a file of a known data set, or plain JSON or JSON Lines; `qrels` are TREC's or BEIR's.

    Known are BEIR, FlashRAG, HotpotQA, 2WikiMultiHopQA, MuSiQue, SQuAD 2.0, NQ, NQ-open, PopQA and
    TrustMargin. Raises InputError for a file that cannot be read, has no question, or has an id twice,
    and for labels of other questions.
    """
    if file.exists() and not file.is_file():
        raise InputError(f"{file} is no regular file, and is read more than once; save the questions in one")
    grades = read_qrels(qrels) if qrels else {}
    items = read_items(file)
    # Either way, a file that marks some of its questions as unanswerable says of all whether they are.
    format_, every, bad = _native(file, grades) if _is_native(items) else _plain(file, items, grades)
    questions = tuple(q for q in every if q.answers or q.answerable is False)
    unscored = tuple(q.id for q in every if not (q.answers or q.answerable is False))
    if not questions:
        raise InputError(f"{file} ({format_}) holds no question with an answer")
    check_ids(file, every)
    if grades and not any(question.id in grades for question in questions):
        raise InputError(f"{qrels} judges none of the questions of {file}; their ids must be the same")
    return QuestionFile(file.name, format_, _digest(file, qrels), questions, unscored, bad)


def _is_native(items: Sequence[Any]) -> bool:
    """Whether rows hold passages of their own: `read_source` knows them. SQuAD's are below `data`."""
    return any(
        isinstance(row, dict)
        and (isinstance(row.get("data"), list) or any(known.fields <= row.keys() for known in FORMATS))
        for row in items
    )


def _native(file: Path, grades: Grades) -> tuple[str, list[Question], tuple[BadRow, ...]]:
    source = read_source(file)
    marked = any(not example.answerable for example in source.examples)
    fine = source.format not in _COARSE
    found = [_from_example(example, grades, marked, fine) for example in source.examples]
    return source.format, found, source.bad


def _from_example(example: Example, grades: Grades, marked: bool, fine: bool) -> Question:
    titles = [example.passages[place].title for place in sorted(example.support)] if fine else []
    return Question(
        readable(example.id),
        readable(example.question),
        tuple(filter(None, map(readable, example.answers))) if example.answerable else (),
        grades.get(example.id) or dict.fromkeys(filter(None, titles), 1),
        example.answerable if marked else None,
    )


def _plain(
    file: Path, items: Sequence[Any], grades: Grades
) -> tuple[str, list[Question], tuple[BadRow, ...]]:
    found = questions_of(file, items, grades)
    marked = any(question.answerable is False for question in found)
    known = [replace(q, answerable=q.answerable is not False if marked else None) for q in found]
    return _plain_format(items), known, ()


def _plain_format(items: Sequence[Any]) -> str:
    first = items[0] if items and isinstance(items[0], dict) else {}
    if first.keys() == _NQ_OPEN and isinstance(first["answer"], list):
        return "NQ-open"
    return next((name for name, fields in _PLAIN if fields <= first.keys()), "plain JSON")


def _digest(file: Path, qrels: Path | None) -> str:
    digest = hashlib.sha256(file.read_bytes())
    if qrels:
        digest.update(qrels.read_bytes())
    return digest.hexdigest()
