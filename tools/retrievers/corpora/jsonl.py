"""JSON Lines: BEIR (`_id`, `title`, `text`), Anserini (`id`, `contents`), plain (`id`, `title`, `text`).

Uncompressed or gzip, told by the first bytes, not by the name. `url` and the scalar entries of a `metadata`
object are kept.
"""

import codecs
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ...errors import InputError
from .document import Document, usable
from .problems import Problems

FORMATS = (
    "JSON Lines (.jsonl, .jsonl.gz) with id or _id and text or contents, and .txt, .md, .html in folders"
)
"""What is read, for messages."""

_LONGEST_LINE = 64 * 2**20  # bytes
_LINES_UNTIL_GIVING_UP = 100  # a file whose first hundred lines hold no JSON object is not JSON Lines
_GZIP = b"\x1f\x8b"


def read_jsonl(
    path: Path, problems: Problems, advance: Callable[[int], None]
) -> Iterator[tuple[Document, int]]:
    """Documents of one file with their line numbers; `advance` is told the bytes of the file that were read.

    Raises
    ------
    InputError: if no line is a JSON object.
    OSError: if the file cannot be opened.
    """
    objects = bad = 0
    for number, line in _lines(path, problems, advance):
        value = _parse(line, str(path), number, problems)
        if value is not None:
            objects += 1
            document = _document(value, str(path), number, problems)
            if document is not None:
                yield document, number
        else:
            bad += 1
            if not objects and bad == _LINES_UNTIL_GIVING_UP:
                break
    if bad and not objects:
        raise InputError(f"{path} is not JSON Lines: no line is a JSON object.\nRead are: {FORMATS}.")


def _lines(path: Path, problems: Problems, advance: Callable[[int], None]) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, without line end or byte order mark, numbered from 1."""
    with path.open("rb") as raw:
        compressed = raw.read(2) == _GZIP
        raw.seek(0)
        stream: BinaryIO = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if compressed else raw
        at = number = 0
        while True:
            number += 1
            try:
                line, whole = _bounded_line(stream)
            except (OSError, EOFError, zlib.error) as error:
                problems.add("unreadable", str(path), number, f"reading ended here: {error}")
                return
            position = raw.tell()
            advance(position - at)
            at = position
            if not line:
                return
            if not whole:
                problems.add("bad line", str(path), number, f"longer than {_LONGEST_LINE} bytes")
            elif text := line.removeprefix(codecs.BOM_UTF8).strip():
                yield number, text


def _bounded_line(stream: BinaryIO) -> tuple[bytes, bool]:
    """The next line, and whether it is whole; one that is too long is read to its end and cut."""
    most = _LONGEST_LINE + len(b"\n")
    line = rest = stream.readline(most)
    while len(rest) == most and not rest.endswith(b"\n"):
        rest = stream.readline(most)
    return line, rest is line


def _parse(line: bytes, file: str, number: int, problems: Problems) -> dict[str, object] | None:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        text = line.decode(errors="replace")
        # Binary data is not JSON either: it is reported once, as a bad line.
        if text.startswith("{"):
            problems.add("undecodable", file, number, f"byte {error.start + 1} is not UTF-8")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        problems.add("bad line", file, number, f"not JSON: {error}")
        return None
    if not isinstance(value, dict):
        problems.add("bad line", file, number, f"a JSON {type(value).__name__}, not an object")
        return None
    return value


def _document(value: dict[str, object], file: str, number: int, problems: Problems) -> Document | None:
    source = _string(value.get("_id", value.get("id")))
    text = value.get("text", value.get("contents"))
    title = value.get("title") or ""
    if not source:
        problems.add("bad line", file, number, "no _id or id")
    elif not isinstance(text, str) or not isinstance(title, str):
        problems.add("bad line", file, number, "text or contents, and title if given, must be strings")
    else:
        url = value.get("url")
        return Document(
            source=usable(source),
            text=usable(text),
            title=usable(title).strip(),
            url=usable(url) if isinstance(url, str) and url else None,
            whole_id=usable(source),
            metadata=_scalars(value.get("metadata")),
        )
    return None


def _string(value: object) -> str:
    """An id as a string; "" if it is none."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _scalars(value: object) -> dict[str, str | int | float]:
    if not isinstance(value, dict):
        return {}
    return {
        usable(key): usable(item) if isinstance(item, str) else item
        for key, item in value.items()
        if isinstance(item, str | int | float)
    }
