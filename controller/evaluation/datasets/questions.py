"""Questions with gold answers, and with relevance labels where a set has them."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....tools.errors import InputError
from ....tools.retrievers.trec import read_qrels

_TEXTS = ("question", "text", "query")
_IDS = ("id", "_id", "qid")
_ANSWERS = ("answers", "answer", "possible_answers")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its gold answers (at least one), and the grades of documents by source, {} if unknown."""

    id: str
    text: str
    answers: tuple[str, ...]
    relevant: Mapping[str, int]


def read_questions(file: Path, qrels: Path | None = None) -> tuple[list[Question], int]:
    """The questions of a JSON Lines or JSON file, also `.gz`, and how many had no answer.

    Text stands under `question`, `text` or `query`, answers under `answers` or `answer`, there or in
    `metadata`; `supporting` names relevant documents, unless `qrels` does (TREC's or BEIR's). Raises
    InputError for a file that cannot be read, an item that is no question, and a file without any.
    """
    grades = read_qrels(qrels) if qrels else {}
    found: list[Question] = []
    without = 0
    for number, item in enumerate(read_items(file), start=1):
        question = _question(item, number, grades)
        if question is None:
            raise InputError(f"{file}, item {number}: no question; it needs one of {', '.join(_TEXTS)}")
        found += [question] if question.answers else []
        without += not question.answers
    if not found:
        raise InputError(f"{file} holds no question with an answer")
    return found, without


def _question(item: Any, number: int, grades: Mapping[str, Mapping[str, int]]) -> Question | None:
    if not isinstance(item, dict):
        return None
    text = _first(item, _TEXTS)
    if not isinstance(text, str) or not text.strip():
        return None
    metadata = item.get("metadata")
    answers = _first(item, _ANSWERS) or (_first(metadata, _ANSWERS) if isinstance(metadata, dict) else None)
    if isinstance(answers, str):
        answers = [answers]
    name = str(_first(item, _IDS) or number)
    relevant = grades.get(name) or dict.fromkeys(item.get("supporting") or (), 1)
    texts = tuple(str(answer) for answer in answers or () if str(answer).strip())
    return Question(name, text.strip(), texts, relevant)


def _first(item: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((item[name] for name in names if item.get(name)), None)


def read_items(file: Path) -> list[Any]:
    """The items of a JSON array, or one a line, or a single one; also `.gz`.

    Raises InputError for a file that cannot be read.
    """
    try:
        data = file.read_bytes()
        text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    try:
        whole = json.loads(text)
    except ValueError:
        return _lines(file, text)
    return whole if isinstance(whole, list) else [whole]


def _lines(file: Path, text: str) -> list[Any]:
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError as error:
        raise InputError(f"{file} is neither JSON nor JSON Lines: {error}") from error
