"""Paired sufficiency contrasts (RINSE section 3): the records that readers are fitted and measured on.

One JSON object a line: group, family, construction, question, passages, label, and what is known of answers
and support. Records of a group come from
one example, and each sufficient record is paired with each insufficient one.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ...tools.errors import InputError, StorageError
from ...tools.types import Passage


@dataclass(frozen=True, slots=True)
class ContrastRecord:
    """One question with one evidence set.

    `label` is true where the passages suffice. `family` names the data set, the unit that a fit leaves out;
    `construction` how the pair was made (`substitution`, `deletion`, `question_swap`, or the user's own).
    `answers` are the question's gold answers and `support` counts the passages annotated as needed, where
    that is known; audits alone read these two.
    """

    group: str
    family: str
    construction: str
    question: str
    passages: tuple[Passage, ...]
    label: bool
    answers: tuple[str, ...] = ()
    support: int | None = None


class Pair(NamedTuple):
    """A sufficient and an insufficient record of one group, by their places in the sequence of records."""

    group: str
    sufficient: int
    insufficient: int


class Labelled(Protocol):
    """What pairing needs of a record, or of its score."""

    @property
    def group(self) -> str:
        """The group's name, distinct over all that is paired."""
        ...

    @property
    def label(self) -> bool:
        """Whether the evidence suffices."""
        ...


def pairs(records: Sequence[Labelled]) -> Iterator[Pair]:
    """Every sufficient record with every insufficient one of its group; a one-sided group gives none."""
    groups: dict[str, tuple[list[int], list[int]]] = {}
    for place, record in enumerate(records):
        groups.setdefault(record.group, ([], []))[record.label].append(place)
    for group, (insufficient, sufficient) in groups.items():
        for high in sufficient:
            for low in insufficient:
                yield Pair(group, high, low)


def write_records(path: Path, records: Iterable[ContrastRecord]) -> int:
    """Write one record a line, the whole file or nothing; returns how many. Raises StorageError."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.partial")
    count = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with scratch.open("w", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps(_to_json(record), ensure_ascii=False) + "\n")
                count += 1
        scratch.replace(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}; choose another place") from error
    finally:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
    return count


def read_records(path: Path) -> Iterator[ContrastRecord]:
    """The records of a file, one after the other.

    Raises InputError naming the file, and the line where one is not a record.
    """
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _record(line, f"{path}, line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as contrast records: {error}") from error


def _to_json(record: ContrastRecord) -> dict[str, Any]:
    passages = [
        {"id": passage.id, "source": passage.source, "title": passage.title, "text": passage.text}
        for passage in record.passages
    ]
    row: dict[str, Any] = {
        "group": record.group,
        "family": record.family,
        "construction": record.construction,
        "question": record.question,
        "passages": passages,
        "label": record.label,
    }
    if record.answers:
        row["answers"] = list(record.answers)
    if record.support is not None:
        row["support"] = record.support
    return row


def _record(line: str, where: str) -> ContrastRecord:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputError(f"{where}: not JSON ({error})") from error
    if not isinstance(row, dict):
        raise InputError(
            f"{where}: not an object with group, family, construction, question, passages, label"
        )
    label, passages = row.get("label"), row.get("passages")
    if not isinstance(label, bool):
        raise InputError(f"{where}: label is {label!r}; it must be true (sufficient) or false")
    if not isinstance(passages, list) or not passages:
        raise InputError(f"{where}: passages must be a list of at least one passage")
    names = ("group", "family", "construction", "question")
    group, family, construction, question = (_text(row, name, where) for name in names)
    read = tuple(
        _passage(entry, f"{where}, passage {place}") for place, entry in enumerate(passages, start=1)
    )
    answers, support = _annotations(row, where)
    return ContrastRecord(group, family, construction, question, read, label, answers, support)


def _annotations(row: dict[str, Any], where: str) -> tuple[tuple[str, ...], int | None]:
    answers, support = row.get("answers", []), row.get("support")
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        raise InputError(f"{where}: answers must be a list of strings")
    if support is not None and (not isinstance(support, int) or isinstance(support, bool) or support < 0):
        raise InputError(f"{where}: support is {support!r}; it counts passages")
    return tuple(answers), support


def _passage(entry: Any, where: str) -> Passage:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: not an object with id and text")
    title, source = entry.get("title") or "", entry.get("source") or ""
    if not isinstance(title, str) or not isinstance(source, str):
        raise InputError(f"{where}: title and source must be strings")
    return Passage(id=_text(entry, "id", where), text=_text(entry, "text", where), title=title, source=source)


def _text(row: dict[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: {name} must be a string that is not empty")
    return value
