"""Questions with gold answers, and with relevance labels where a set has them."""

import codecs
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....tools.errors import InputError
from ....tools.retrievers.trec import read_qrels

_TEXTS = ("question", "text", "query")
_IDS = ("id", "_id", "qid", "test_id")
_ANSWERS = ("answers", "answer", "golden_answers", "possible_answers")
_GZIP = b"\x1f\x8b"
_NOTHING: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its gold answers, and the grades of documents by source or title, {} if unknown.

    `answerable` is what the set says of it, None where it says nothing; there are no answers where it is
    false.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    relevant: Mapping[str, int]
    answerable: bool | None = None


def read_questions(file: Path, qrels: Path | None = None) -> tuple[list[Question], int]:
    """The questions of a JSON Lines or JSON file, also gzipped, and how many had no answer.

    Layouts are those of `questions_of`. Raises InputError as it does, and for a file without an answer or
    with an id that comes twice.
    """
    every = questions_of(file, read_items(file), read_qrels(qrels) if qrels else {})
    found = [question for question in every if question.answers]
    if not found:
        raise InputError(f"{file} holds no question with an answer")
    check_ids(file, found)
    return found, len(every) - len(found)


def check_ids(file: Path, questions: Sequence[Question]) -> None:
    """Raise InputError where one id stands at more than one question, since rows are known by it."""
    counts = Counter(question.id for question in questions)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        shown = ", ".join(map(repr, twice[:3])) + (", …" if len(twice) > 3 else "")
        raise InputError(
            f"{file}: {len(twice)} ids stand at more than one question: {shown}.\n"
            "Give every question its own."
        )


def questions_of(file: Path, items: Sequence[Any], grades: Mapping[str, Mapping[str, int]]) -> list[Question]:
    """Items as questions, those without an answer too; `file` is where they came from, for errors.

    Text stands under `question`, `text` or `query`, answers under `answers`, `answer`, `golden_answers` or
    `possible_answers`, there or in `metadata`; `answerable`, `is_impossible` or SQuAD's empty `text` may say
    whether there is one. `supporting`, or the titles of FlashRAG's `supporting_facts`, name relevant
    documents, unless `grades` does. Raises InputError for an item that is no question, or has an answer that
    is none.
    """
    found: list[Question] = []
    for number, item in enumerate(items, start=1):
        try:
            question = _question(item, number, grades)
        except ValueError as error:
            raise InputError(f"{file}, item {number}: {error}") from error
        if question is None:
            raise InputError(f"{file}, item {number}: no question; it needs one of {', '.join(_TEXTS)}")
        found.append(question)
    return found


def _question(item: Any, number: int, grades: Mapping[str, Mapping[str, int]]) -> Question | None:
    if not isinstance(item, dict):
        return None
    text = _first(item, _TEXTS)
    if not isinstance(text, str) or not text.strip():
        return None
    identity = _first(item, _IDS)
    name = readable(str(number if identity is None else identity))
    relevant = grades.get(name) or dict.fromkeys(_supporting(item), 1)
    return Question(name, readable(text), gold_answers(item), relevant, _answerable(item))


def gold_answers(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The gold answers of an item, where they stand as `questions_of` says; () where it has none.

    Raises ValueError for an answer that is none.
    """
    if _answerable(item) is False:
        return ()
    given = _first(item, _ANSWERS)
    return _answers(_first(_metadata(item), _ANSWERS) if given is None else given)


def _answers(found: Any) -> tuple[str, ...]:
    """One answer, or a list of them, which may itself be written as JSON text, as PopQA does.

    Raises ValueError for what is neither text, number nor truth value.
    """
    if isinstance(found, str) and found.startswith("["):
        with suppress(ValueError):
            found = json.loads(found)
    if isinstance(found, dict) and isinstance(found.get("text"), list):
        found = found["text"]  # SQuAD's, a row a question
    every = found if isinstance(found, list) else [found]
    return tuple(text for answer in every if answer is not None and (text := readable(answer_text(answer))))


def answer_text(found: Any) -> str:
    """An answer as text: a number's digits, a truth value as yes or no. Raises ValueError for others."""
    if isinstance(found, bool):
        return "yes" if found else "no"
    if not isinstance(found, str | int | float):
        raise ValueError(f"the answer {found!r:.60} is no text; give a text, or a list of texts")
    return str(found)


def _answerable(item: Mapping[str, Any]) -> bool | None:
    for said in (item, _metadata(item)):
        if isinstance(said.get("answerable"), bool):
            return bool(said["answerable"])
        if isinstance(said.get("is_impossible"), bool):
            return not said["is_impossible"]
    answers = item.get("answers")
    return False if isinstance(answers, dict) and answers.get("text") == [] else None


def _metadata(item: Mapping[str, Any]) -> Mapping[str, Any]:
    found = item.get("metadata")
    return found if isinstance(found, dict) else {}


def _supporting(item: Mapping[str, Any]) -> list[str]:
    facts = _metadata(item).get("supporting_facts")
    if isinstance(facts, dict):
        facts = facts.get("title")
    elif isinstance(facts, list):
        facts = [fact[0] if isinstance(fact, list) and fact else fact for fact in facts]
    found = item.get("supporting") or facts
    return [str(name) for name in found] if isinstance(found, list) else []


def readable(text: str) -> str:
    """The text stripped; half of a surrogate pair, which no file can hold, becomes a question mark."""
    return text.encode("utf-8", "replace").decode().strip()


def _first(item: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((item[name] for name in names if item.get(name) not in _NOTHING), None)


def read_items(file: Path) -> list[Any]:
    """The items of a JSON array, or one a line, or a single one; also gzipped.

    Raises InputError for a file that cannot be read.
    """
    text = _text(file)
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return _lines(file, text)
    return whole if isinstance(whole, list) else [whole]


def _text(file: Path) -> str:
    data = b""
    try:
        data = file.read_bytes()
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        likely = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "latin1"
        raise InputError(
            f"{file}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8.\n"
            f"Convert the file, for instance with iconv -f {likely} -t utf-8; a file has one encoding."
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be read: {error}") from error


def _lines(file: Path, text: str) -> list[Any]:
    found: list[Any] = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except json.JSONDecodeError as error:
            where = f"line {number}, column {error.colno}"
            raise InputError(f"{file} is neither JSON nor JSON Lines: {where}: {error.msg}") from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{file}, line {number} cannot be read: {error}") from error
    return found
