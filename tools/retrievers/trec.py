"""Rankings and relevance judgements in the formats of TREC and BEIR.

    run       question Q0 document rank score tag           white space between
    qrels     question 0 document grade                     TREC
              query-id <TAB> corpus-id <TAB> score          BEIR, with that line as heading
    queries   {"_id": …, "text": …}                         BEIR, one JSON object a line

A document is the source that its passages were cut from; its score is that of its best passage.
"""

import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..errors import InputError, StorageError
from ..types import Passage

Ranking = Mapping[str, float]
"""Documents with their scores; the higher, the earlier."""


def ranked_documents(passages: Iterable[Passage]) -> dict[str, float]:
    """Documents of a search in its order, each with the score of its best passage, as the search has it."""
    best: dict[str, float] = {}
    for passage in passages:
        best.setdefault(passage.source or passage.id, passage.score or 0.0)
    return best


def check_run_place(file: Path) -> None:
    """Raise StorageError where no run could be written; asked before an evaluation, so that none is lost."""
    if file.exists() and not file.is_file():
        raise StorageError(f"The run {file} cannot be written: it is no regular file. Name another.")
    try:
        with tempfile.TemporaryFile(dir=file.resolve().parent):
            pass
    except OSError as error:
        raise StorageError(f"The run {file} cannot be written: {error.strerror}. Name another.") from error


def check_ids(ids: Iterable[str]) -> None:
    """Raise InputError for an id of a question or a document with white space, which a run cannot hold."""
    for id_ in ids:
        if len(id_.split()) != 1:
            raise InputError(
                f"A run file cannot hold the id {id_!r}: it is empty or has white space.\n"
                "Give the corpus and the questions other ids, or leave the run out."
            )


def write_run(file: Path, rankings: Mapping[str, Ranking], tag: str = "sufficit") -> None:
    """Write a run, as a whole or not at all; rankings in their own order.

    Raises InputError for an id with white space, which the format cannot hold; StorageError.
    """
    scratch = file.with_name(f".{file.name}.{os.getpid()}.partial")
    check_ids([tag, *rankings, *(document for ranking in rankings.values() for document in ranking)])
    try:
        with scratch.open("w", encoding="utf-8") as stream:
            for question, ranking in rankings.items():
                for rank, (document, score) in enumerate(ranking.items(), 1):
                    stream.write(f"{question} Q0 {document} {rank} {float(score)!r} {tag}\n")
        scratch.replace(file)
    except OSError as error:
        raise StorageError(f"The run {file} cannot be written: {error.strerror}.") from error
    finally:
        scratch.unlink(missing_ok=True)


def read_run(file: Path) -> dict[str, dict[str, float]]:
    """Rankings of a run by question, best first. Raises InputError naming the line that is none."""
    found: dict[str, dict[str, float]] = {}
    for number, line in _lines(file):
        parts = line.split()
        score = _number(parts[4]) if len(parts) == 6 else None
        if score is None:
            raise InputError(f"{file}:{number} is no line of a run: question Q0 document rank score tag.")
        found.setdefault(parts[0], {})[parts[2]] = score
    return {question: dict(sorted(r.items(), key=lambda pair: -pair[1])) for question, r in found.items()}


def read_qrels(file: Path) -> dict[str, dict[str, int]]:
    """Grades of documents by question, from TREC's format or BEIR's. Raises InputError naming the line."""
    found: dict[str, dict[str, int]] = {}
    for number, line in _lines(file):
        parts = line.split("\t") if "\t" in line else line.split()
        if number == 1 and not _is_number(parts[-1]):
            continue  # BEIR's heading
        if len(parts) not in (3, 4) or not _is_number(parts[-1]):
            raise InputError(
                f"{file}:{number} is no judgement: question 0 document grade, or BEIR's columns."
            )
        found.setdefault(parts[0].strip(), {})[parts[-2].strip()] = int(float(parts[-1]))
    if not found:
        raise InputError(f"{file} holds no judgements.")
    return found


def read_queries(file: Path) -> dict[str, str]:
    """Questions by id, from BEIR's JSON Lines. Raises InputError naming the line that is none."""
    found: dict[str, str] = {}
    for number, line in _lines(file):
        try:
            record = json.loads(line)
            found[str(record["_id"])] = str(record["text"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f'{file}:{number} is no query: {{"_id": …, "text": …}}.') from error
    return found


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    return ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())


def _is_number(text: str) -> bool:
    return _number(text) is not None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
