"""Reads question-answering files in their own formats; the format is found from the content."""

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from ....tools.errors import InputError
from .examples import Example
from .formats import FORMATS, Format

_GZIP = b"\x1f\x8b"
_DETECTION_ROWS = 100


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that was left out and why; lines of JSONL, entries of a list, SQuAD paragraphs count from 1."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class Source:
    """What one file held."""

    path: Path
    format: str
    examples: tuple[Example, ...]
    bad: tuple[BadRow, ...]


def read_source(path: Path) -> Source:
    """Read a HotpotQA, 2Wiki, MuSiQue, SQuAD 2.0 or NQ-oracle file, gzipped or not, JSON or JSONL.

    Bad rows are left out and named. Raises InputError where the file cannot be read, or has no row of a known
    format among its first hundred.
    """
    try:
        with _open(path) as file:
            rows = _rows(file)
            head = list(islice(rows, _DETECTION_ROWS))
            found = _detect(path, head)
            return _read(path, found, chain(head, rows))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _open(path: Path) -> IO[str]:
    with path.open("rb") as file:
        zipped = file.read(2) == _GZIP
    return gzip.open(path, "rt", encoding="utf-8-sig") if zipped else path.open(encoding="utf-8-sig")


def _rows(file: IO[str]) -> Iterator[tuple[int, Any]]:
    """(number, value) of every row; a line of JSONL that is not JSON gives its error as the value."""
    first = file.readline()
    whole = _json(first)
    lines: Iterable[str] = chain([first], file)
    if isinstance(whole, ValueError):
        # Either one JSON value laid out over many lines, or JSONL whose first line is blank or broken.
        text = first + file.read()
        whole = _json(text)
        lines = text.split("\n")
    if isinstance(whole, dict) and isinstance(whole.get("data"), list):
        whole = list(_paragraphs(whole["data"]))
    if isinstance(whole, list):
        yield from enumerate(whole, start=1)
    else:
        yield from ((number, _json(line)) for number, line in enumerate(lines, start=1) if line.strip())


def _json(text: str) -> Any:
    """The value of a JSON text, or the error that it gives."""
    try:
        return json.loads(text)
    except ValueError as error:
        return error
    except RecursionError as error:
        return ValueError(str(error))


def _paragraphs(articles: list[Any]) -> Iterator[Any]:
    """SQuAD's paragraphs, each with its article's title; what is no article is a bad row of its own."""
    for article in articles:
        if not isinstance(article, dict) or not isinstance(article.get("paragraphs"), list):
            yield article
            continue
        for paragraph in article["paragraphs"]:
            yield (
                {"title": article.get("title", ""), **paragraph} if isinstance(paragraph, dict) else paragraph
            )


def _detect(path: Path, rows: list[tuple[int, Any]]) -> Format:
    for _, row in rows:
        for known in FORMATS:
            if isinstance(row, dict) and known.fields <= row.keys():
                return known
    names = ", ".join(known.name for known in FORMATS)
    broken = next((f" (row {number}: {row})" for number, row in rows if isinstance(row, ValueError)), "")
    raise InputError(f"{path} has no row of a known format{broken}; known are {names}")


def _read(path: Path, found: Format, rows: Iterator[tuple[int, Any]]) -> Source:
    examples: list[Example] = []
    bad: list[BadRow] = []
    for number, row in rows:
        try:
            if isinstance(row, ValueError):
                raise row
            examples.extend([_checked(example) for example in found.read(row)])
        except KeyError as error:
            bad.append(BadRow(number, f"no {error}"))
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            bad.append(BadRow(number, str(error)))
    return Source(path, found.name, tuple(examples), tuple(bad))


def _checked(example: Example) -> Example:
    if not example.question:
        raise ValueError("the question is empty")
    if not example.passages:
        raise ValueError("there are no passages")
    return example
