"""What a configuration's questions came to, on disk as soon as they end; and the files made of it.

A question that ends is appended to two files: its trace, and then its row with the place of that trace. Only
the row makes it count, so a kill between the two leaves a question that was not asked. When all have ended,
the files of the folder are written in the order of the questions, and the two are removed.

That failed questions are to be asked again is a row too: after it they count as not asked.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from io import FileIO
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from ....tools.errors import InputError
from ....tools.retrievers.trec import write_run
from ..journal import Journal, Row, journal_line, write_through
from .finished import Outcome
from .folder import RunFolder
from .rows import FoundPassage, PredictionRow, read_rows, row_line
from .writing import storage_errors, write_whole

_AGAIN = "again"


class DurableRun:
    """The journal of one configuration, open for writing. `rows` holds what has ended, by question.

    Raises InputError where the journal is another run's, StorageError where the disk refuses. Use it as a
    context manager.
    """

    def __init__(self, folder: RunFolder, config: str, header: Row) -> None:
        self._folder = folder
        self._config = config
        self._journal = Journal(folder.journal(config), header)
        self._places: dict[str, tuple[int, int]] = {}
        self._again = False
        self.rows: dict[str, PredictionRow] = {}
        for entry in self._journal.rows:
            if _AGAIN in entry:
                self._forget(entry[_AGAIN])
            else:
                self._keep(PredictionRow.model_validate(entry["row"]), tuple(entry["trace"]))
        try:
            self._traces = self._open_traces()
        except BaseException:
            self._journal.close()
            raise

    def _keep(self, row: PredictionRow, place: tuple[int, int]) -> None:
        self.rows[row.id] = row
        self._places[row.id] = place

    def _forget(self, questions: Iterable[str]) -> None:
        self._again = True
        for question in questions:
            del self.rows[question], self._places[question]

    def _open_traces(self) -> FileIO:
        """The traces so far, without what a kill left behind the last one that counts."""
        path = self._folder.journal_of_traces(self._config)
        end = max((start + length for start, length in self._places.values()), default=0)
        with storage_errors(path):
            file = FileIO(path, "ab+")
            if os.fstat(file.fileno()).st_size < end:
                file.close()
                raise InputError(
                    f"{path} is shorter than its journal says.\nRemove {path.parent} to run it anew."
                )
            file.truncate(end)
        return file

    def append(self, outcome: Outcome) -> None:
        """Add a question that has ended; on disk when the call returns."""
        line = outcome.trace.encode()
        with storage_errors(Path(os.fsdecode(self._traces.name))):
            place = os.fstat(self._traces.fileno()).st_size, len(line)
            write_through(self._traces, line)
        self._journal.append([_entry(outcome.row, place)])
        self._keep(outcome.row, place)

    def ask_again(self) -> bool:
        """Count the questions that are unsettled as not asked; whether there are any.

        Once in a journal's life, so that a run that is killed asks no question oftener than an unbroken one.
        """
        unsettled = [row.id for row in self.rows.values() if row.unsettled]
        if self._again or not unsettled:
            return False
        self._journal.append([{_AGAIN: unsettled}])
        self._forget(unsettled)
        return True

    def publish(self, questions: Sequence[str]) -> None:
        """Write the files of the configuration, in the order of `questions`, and remove the journal.

        A line of TREC's has one field of its own, the tag: the configuration's name and the short hashes.
        """
        folder, config = self._folder, self._config
        rows = [self.rows[question] for question in questions]
        write_whole(folder.traces(config), self._trace_lines(questions))
        tag = _word(f"{config}-{rows[0].hashes.short}")
        write_run(folder.ranking(config), {_word(row.id): _ranking(row.pool) for row in rows}, tag)
        write_whole(folder.predictions(config), (row_line(row).encode() for row in rows))
        folder.journal(config).unlink(missing_ok=True)
        folder.journal_of_traces(config).unlink(missing_ok=True)

    def _trace_lines(self, questions: Iterable[str]) -> Iterator[bytes]:
        for question in questions:
            start, length = self._places[question]
            yield os.pread(self._traces.fileno(), length, start)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._journal.close()
        self._traces.close()


def reopen(folder: RunFolder, config: str, header: Row) -> None:
    """Make the journal of a configuration that has ended anew, of its files, which stay.

    The journal of rows comes last, since it is what makes the configuration one that has not ended. Raises
    InputError where the files do not belong together, StorageError where the disk refuses.
    """
    rows = read_rows(folder.predictions(config))
    try:
        traces = folder.traces(config).read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise InputError(f"{folder.traces(config)} cannot be read: {error.strerror}") from error
    if len(rows) != len(traces):
        raise InputError(f"{folder.path / config} has {len(rows)} predictions and {len(traces)} traces")
    write_whole(folder.journal_of_traces(config), traces)
    lengths = [len(line) for line in traces]
    places = zip(accumulate(lengths, initial=0), lengths, strict=False)
    entries = (_entry(row, place) for row, place in zip(rows, places, strict=True))
    write_whole(folder.journal(config), map(journal_line, (header, *entries)))


def _entry(row: PredictionRow, place: tuple[int, int]) -> Row:
    """A row as the journal holds it."""
    # A threshold may be infinite, which a row's own JSON writes as a string.
    return {"trace": place, "row": json.loads(row_line(row))}


def _ranking(pool: Iterable[FoundPassage]) -> dict[str, float]:
    """Documents in the order in which they were found, scored 1 / rank: scores of different queries, and of
    the web, do not compare.
    """
    documents = dict.fromkeys(_word(passage.source or passage.id) for passage in pool)
    return {document: 1 / rank for rank, document in enumerate(documents, start=1)}


def _word(name: str) -> str:
    """A name as one word, as TREC's format wants it: percent-encoded with white space, a dash if empty."""
    return name if len(name.split()) == 1 else quote(name, safe="") or "-"
