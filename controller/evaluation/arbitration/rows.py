"""Files of arbitrated answers: a durable row a question, to be decided again without a model."""

import math
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ....policies.trustmargin import TrustMarginSettings, verdict_by_margin
from ....policies.types import Likelihoods, Verdict
from ....tools.errors import InputError
from ..contrasts.scores import Finite, validated
from ..journal import Journal, Row, journal_line, read_journal
from ..new_file import write_new

VERSION = 1
KIND = "file of arbitrated answers"
TIE_BAND = TrustMarginSettings().tie_band


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ArbitrationHeader(_Frozen):
    """What ran. A file goes on only under the same header.

    `prompts` is a hash of the answer prompts, `answer_tokens` the longest answer, `trustmargin` what the
    recorded verdicts were decided with. `source` is what else decides, by name: the format and the hash of
    the questions, the index, the RAG pipeline.
    """

    version: int = VERSION
    generator: str
    prompts: str
    answer_tokens: int
    trustmargin: TrustMarginSettings
    source: dict[str, str]


class ArbitrationRow(_Frozen):
    """One question: both answers, the verdict with its six likelihoods, or why there is none.

    `variant` tells rows of one question apart where something was varied, such as the share of random
    passages; "" for the plain run. `answers` are the gold ones, () where unknown. `direct` and `rag` are None
    where the run failed before they were there; `direct_tokens` and `rag_tokens` are their lengths as scored.
    `passages` counts those that the RAG answer and the views have read. `seconds` is wall-clock time by part.
    `verdict` is None exactly where `error` says what failed.
    """

    id: str
    variant: str = ""
    question: str
    answers: tuple[str, ...] = ()
    direct: str | None = None
    rag: str | None = None
    direct_tokens: int = Field(default=0, ge=0)
    rag_tokens: int = Field(default=0, ge=0)
    passages: int = Field(default=0, ge=0)
    verdict: Verdict | None = None
    seconds: dict[str, Finite] = {}
    error: str = ""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.verdict is None) != bool(self.error):
            raise ValueError("a row has either a verdict or an error")
        if self.likelihoods and not all(map(math.isfinite, astuple(self.likelihoods))):
            raise ValueError("a likelihood is not a finite number")
        return self

    @property
    def key(self) -> tuple[str, str]:
        """Two rows of a file with the same key are runs of the same thing; the later one counts."""
        return self.id, self.variant

    @property
    def likelihoods(self) -> Likelihoods | None:
        """The six likelihoods; None where no scoring was needed, or the run failed."""
        return self.verdict.likelihoods if self.verdict else None


def rejudged(row: ArbitrationRow, weight: float, tau: float, tie_band: float = TIE_BAND) -> Verdict:
    """What lambda = `weight` and `tau` decide on the recorded likelihoods (TrustMargin section 3.5).

    A verdict that needed no likelihoods stands whatever both are. A row that failed gives the empty answer,
    so that it can stay in a denominator. Raises ModelOutputError where a recorded number is not finite.
    """
    settings = TrustMarginSettings(weight=weight, tau=tau, tie_band=tie_band)
    if row.verdict is None:
        return Verdict("none", "", row.error, None, None, None, None, weight, tau, tie=False)
    if row.verdict.likelihoods is None:
        return replace(row.verdict, weight=weight, tau=tau)
    return verdict_by_margin(row.verdict.likelihoods, row.direct or "", row.rag or "", settings)


class RowFile(Journal):
    """A file of rows open for writing. `done` holds, by key, what an earlier run wrote and did not fail at.

    Raises InputError where the file has another header or a row that does not fit, StorageError where the
    disk refuses. Use it as a context manager.
    """

    def __init__(self, path: Path, header: ArbitrationHeader) -> None:
        super().__init__(path, header.model_dump(mode="json"))
        try:
            rows = _validated(path, self.rows)
        except InputError:
            self.close()
            raise
        self.done = {row.key: row for row in rows if not row.error}

    def add(self, row: ArbitrationRow) -> None:
        """Write one row; it is on disk when the call returns."""
        self.append([row.model_dump(mode="json")])
        self.done[row.key] = row


def read_rows(path: Path) -> tuple[ArbitrationHeader, list[ArbitrationRow]]:
    """Header and rows, of every key the last one, in the order in which keys first came.

    Raises InputError for a file that cannot be read or is none of arbitrated answers.
    """
    first, rest = read_journal(path)
    header = validated(ArbitrationHeader, first, f"{path}, line 1", KIND)
    if header.version != VERSION:
        raise InputError(f"{path} has version {header.version}, {VERSION} is read here; arbitrate again")
    return header, list({row.key: row for row in _validated(path, rest)}.values())


def _validated(path: Path, rows: Sequence[Row]) -> list[ArbitrationRow]:
    """The rows after the header."""
    return [
        validated(ArbitrationRow, row, f"{path}, line {line}", KIND) for line, row in enumerate(rows, start=2)
    ]


def write_rows(path: Path, header: ArbitrationHeader, rows: Sequence[ArbitrationRow]) -> None:
    """A new file of rows, in the bytes that a RowFile has, whole or not at all.

    Raises InputError where a file stands there already, StorageError where the disk refuses.
    """
    write_new(path, b"".join(journal_line(one.model_dump(mode="json")) for one in (header, *rows)))


def plain_rows(rows: Sequence[ArbitrationRow]) -> list[ArbitrationRow]:
    """The rows in which nothing was varied."""
    return [row for row in rows if not row.variant]
