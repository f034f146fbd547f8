"""How the output folder of `sufficit eval run` lies on disk.

OUT/run.json                      the header: the questions, and by configuration what it ran on
OUT/report.{json,md,html}         the report over all of it
OUT/<config>/predictions.jsonl    one PredictionRow a question, in the order of the question file
OUT/<config>/traces.jsonl         {"id": …, "hashes": …, "events": […]} a question, in the same order
OUT/<config>/run.trec             the documents of the pool, ranked, in TREC's format; a line's tag is
                                  <config>-<settings>-<artifact>-<index>-<data>, of each hash eight digits
OUT/<config>/journal*.jsonl       what a run that has not ended yet holds so far; gone when it ends
"""

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ....tools.errors import InputError, TraceError
from ...trace import Event, from_json
from .rows import Hashes, PredictionRow, read_rows

VERSION = 4
"""Of the files. In version 1 the tokens of prompts were those of the answers' prompts alone; until version 2
calls of rerankers and small readers were not counted.
"""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DataHeader(_Frozen):
    """The question file: its name, the format that was found, its hash, and how much was in it.

    `questions` were asked; `sampled_from` is how many there were, None where all were asked. `left_out` more,
    and rows that hold none, could not be scored.
    """

    file: str
    format: str
    hash: str
    questions: int
    sampled_from: int | None = None
    left_out: int = 0


class ConfigHeader(_Frozen):
    """One configuration: its hashes, the names and hashes of all that measures, and its settings.

    `settings` are those that differ from the defaults, by dotted key.
    """

    hashes: Hashes
    models: dict[str, str]
    settings: dict[str, object]


class RunHeader(_Frozen):
    """What run.json holds."""

    version: int = VERSION
    data: DataHeader
    configurations: dict[str, ConfigHeader]


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one output folder."""

    path: Path

    @property
    def header(self) -> Path:
        """run.json."""
        return self.path / "run.json"

    def report(self, kind: str) -> Path:
        """report.json, report.md or report.html."""
        return self.path / f"report.{kind}"

    def predictions(self, config: str) -> Path:
        """The rows of one configuration."""
        return self.path / config / "predictions.jsonl"

    def traces(self, config: str) -> Path:
        """Its traces."""
        return self.path / config / "traces.jsonl"

    def ranking(self, config: str) -> Path:
        """Its rankings."""
        return self.path / config / "run.trec"

    def journal(self, config: str) -> Path:
        """The rows that it has so far; gone when it ends."""
        return self.path / config / "journal.jsonl"

    def journal_of_traces(self, config: str) -> Path:
        """The traces that it has so far; gone when it ends."""
        return self.path / config / "journal-traces.jsonl"

    def ended(self, config: str) -> bool:
        """Whether the configuration has been asked every question, and its files are all there."""
        return self.predictions(config).exists() and not self.journal(config).exists()

    def read_header(self) -> RunHeader:
        """What ran. Raises InputError where the folder is none of a run, or one of another release."""
        try:
            found = RunHeader.model_validate_json(self.header.read_bytes())
        except OSError as error:
            raise InputError(
                f"{self.path} is no folder of `sufficit eval run`: {self.header.name}: {error.strerror}"
            ) from error
        except ValidationError as error:
            raise InputError(f"{self.header} is damaged: {error}") from error
        if found.version != VERSION:
            raise InputError(
                f"{self.path} was written by another release: its version is {found.version}, not {VERSION}."
                "\nRun it again into another folder."
            )
        return found

    def read_predictions(self) -> dict[str, list[PredictionRow]]:
        """The rows of every configuration that has ended, in the header's order.

        Raises InputError where one cannot be read, or none has ended.
        """
        configs = self.read_header().configurations
        ended = [name for name in configs if self.ended(name)]
        if not ended:
            raise InputError(f"{self.path}: no configuration has ended yet; start the same run again")
        return {name: read_rows(self.predictions(name)) for name in ended}

    def read_trace(self, config: str, question: str) -> tuple[Event, ...]:
        """The trace of one question. Raises InputError where there is none, TraceError if it is damaged."""
        file = self.traces(config)
        try:
            with file.open(encoding="utf-8") as lines:
                for line in lines:
                    found = json.loads(line)
                    if found["id"] == question:
                        return tuple(map(from_json, found["events"]))
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise TraceError(f"{file} is damaged: {error}") from error
        raise InputError(f"{file} has no question {question!r}")
