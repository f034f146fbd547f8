"""The rows of an evaluation: one question under one configuration, as it went."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ....policies.types import Source
from ....tools.errors import InputError

Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class Hashes(_Frozen):
    """What a row rests on, each a hash: effective settings, RINSE artifact, index, and question file."""

    settings: str
    artifact: str
    index: str
    data: str

    @property
    def short(self) -> str:
        """The first eight digits of each, in this order, joined by dashes: for where one word has to do."""
        return "-".join(value[:8] for value in (self.settings, self.artifact, self.index, self.data))


class FoundPassage(_Frozen):
    """A passage as metrics need it: the document it was cut from, its id there, and its title."""

    source: str
    id: str
    title: str = ""


class StageCost(_Frozen):
    """What one stage cost: calls and tokens of the generator and of RINSE's encoder, calls of other readers.

    `prompt_tokens` are those of all that the two read: prompts of answers, of probes, of scorings with what
    was scored, and of the encoder. `reader_calls` are those of rerankers and small readers, whose tokens are
    not counted: they cost a small part of a generator's.
    """

    model_calls: int = 0
    generated_tokens: int = 0
    prompt_tokens: int = 0
    reader_calls: int = 0


class PredictionRow(_Frozen):
    """One question under one configuration.

    Of the question: `answers` are the gold answers, () where there is none; `answerable` is None where the
    set does not say; `support` are the documents that the question needs, by source or by title, None where
    the set does not say.

    Of the answer: `action` is `failed` where the run ended in an error, which `error` then holds; such a row
    stays in every denominator. `score` and `threshold` are RINSE's, as the last decision saw them; a score
    of None had no evidence. `direct` and `rag` are both candidates, None where one was not written.
    `retrieved` holds the passages of every round, in its order, those of the web included; `pool` what was
    kept of all rounds; `admitted` what pruning let in and `read` what the prompt had room for, in prompt
    order; `citations` what the answer cites.

    Of the cost: `spent` are the counted limits (no seconds), `stages` the cost by stage (`open`, `retrieve`,
    `web`, `score`, `prune`, `write`, `arbitrate`). `timings` are seconds by stage, and `total`; they are all
    that differs between two runs of the same thing. `faults` name tools that failed while the run went on.
    """

    config: str
    id: str
    question: str
    answers: tuple[str, ...]
    answerable: bool | None
    support: tuple[str, ...] | None
    hashes: Hashes
    action: Literal["answer", "abstain", "failed"]
    answer: str | None = None
    source: Source = "none"
    grounded: bool = False
    reason: str = ""
    score: Finite | None = None
    threshold: float | None = None
    direct: str | None = None
    rag: str | None = None
    citations: tuple[FoundPassage, ...] = ()
    retrieved: tuple[tuple[FoundPassage, ...], ...] = ()
    pool: tuple[FoundPassage, ...] = ()
    admitted: tuple[FoundPassage, ...] = ()
    read: tuple[FoundPassage, ...] = ()
    spent: dict[str, int] = {}
    stages: dict[str, StageCost] = {}
    timings: dict[str, Finite] = {}
    trace_id: str = ""
    faults: tuple[str, ...] = ()
    error: str = ""

    @property
    def hindered(self) -> bool:
        """Whether it abstained after a tool had failed, and might have answered without that."""
        return self.action == "abstain" and bool(self.faults)

    @property
    def unsettled(self) -> bool:
        """Whether asking once more may end otherwise: it failed, or was hindered."""
        return self.action == "failed" or self.hindered

    def supported(self, passages: Iterable[FoundPassage]) -> frozenset[str]:
        """Those of the documents in `support` that some of `passages` belong to, by source or by title."""
        names = {name for passage in passages for name in (passage.source, passage.title)}
        return frozenset(self.support or ()) & names


def row_line(row: PredictionRow) -> str:
    """A row as one line of predictions.jsonl."""
    return row.model_dump_json() + "\n"


def read_rows(file: Path) -> list[PredictionRow]:
    """The rows of a predictions.jsonl. Raises InputError naming the line that is none."""
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    rows: list[PredictionRow] = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            rows.append(PredictionRow.model_validate_json(line))
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(map(str, problem["loc"]))
            raise InputError(f"{file}, line {number}: {where}: {problem['msg']}") from error
    return rows
