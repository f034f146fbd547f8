"""What a configuration's questions came to, on disk as soon as they end; and the files made of it.

A question that ends is appended to two files: its trace, and then its row with the place of that trace. Only
the row makes it count, so a kill between the two leaves a question that was not asked. When all have ended,
the files of the folder are written in the order of the questions, and the two are removed.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from ....tools.errors import InputError
from ....tools.retrievers.trec import write_run
from ..journal import Journal, Row, write_through
from .finished import Outcome
from .folder import RunFolder
from .rows import FoundPassage, PredictionRow, row_line
from .writing import storage_errors, write_whole


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
        self.rows: dict[str, PredictionRow] = {}
        for entry in self._journal.rows:
            self._keep(PredictionRow.model_validate(entry["row"]), tuple(entry["trace"]))
        try:
            self._traces = self._open_traces()
        except BaseException:
            self._journal.close()
            raise

    def _keep(self, row: PredictionRow, place: tuple[int, int]) -> None:
        self.rows[row.id] = row
        self._places[row.id] = place

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
        # A threshold may be infinite, which a row's own JSON writes as a string.
        self._journal.append([{"trace": place, "row": json.loads(row_line(outcome.row))}])
        self._keep(outcome.row, place)

    def publish(self, questions: Sequence[str]) -> None:
        """Write the files of the configuration, in the order of `questions`, and remove the journal."""
        folder, config = self._folder, self._config
        rows = [self.rows[question] for question in questions]
        write_whole(folder.traces(config), self._trace_lines(questions))
        write_run(folder.ranking(config), {_word(row.id): _ranking(row.pool) for row in rows}, _word(config))
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


def _ranking(pool: Iterable[FoundPassage]) -> dict[str, float]:
    """Documents in the order in which they were found, scored 1 / rank: scores of different queries, and of
    the web, do not compare.
    """
    documents = dict.fromkeys(_word(passage.source or passage.id) for passage in pool)
    return {document: 1 / rank for rank, document in enumerate(documents, start=1)}


def _word(name: str) -> str:
    """A name as one word, as TREC's format wants it: percent-encoded with white space, a dash if empty."""
    return name if len(name.split()) == 1 else quote(name, safe="") or "-"
