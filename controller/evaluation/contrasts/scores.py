"""Files of scores: which scorer, on which models, and one row a record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ....policies.rinse.cache import content_key
from ....policies.rinse.records import ContrastRecord
from ....tools.errors import InputError
from ..journal import Row, read_journal

VERSION = 1
Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Additions(_Frozen):
    """Shared passages that were added to every record: how many, by which seed, from which pool."""

    count: int = Field(ge=0)
    seed: int
    pool: str


class ScoreHeader(_Frozen):
    """Who scored. A file goes on only under the same header.

    `label` names the scores in reports, `scorer` is the method, `models` name what it stands on with their
    hashes, `fitted_on` the families that the scorer has seen. `at_once` records ran concurrently.
    """

    version: int = VERSION
    label: str
    scorer: str
    models: dict[str, str]
    fitted_on: tuple[str, ...] = ()
    at_once: int = Field(default=1, ge=1)
    additions: Additions | None = None


class ScoreRow(_Frozen):
    """One record's score, or why it has none.

    `record` is the hash of the record's content. `seconds` is from call to result, `share` the wall-clock
    time that the record took of its batch: 1 / mean share is records per second.
    """

    record: str
    family: str
    construction: str
    group: str
    label: bool
    score: Finite | None
    terms: dict[str, Finite] = {}
    note: str = ""
    skipped: str = ""
    seconds: Finite
    share: Finite


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """All scores under one label, by record hash.

    `seen` holds the families and constructions of families that the scorer was fitted on.
    """

    label: str
    rows: Mapping[str, ScoreRow]
    seen: frozenset[tuple[str, str]]
    at_once: int


def record_key(record: ContrastRecord) -> str:
    """Hash of everything that a record is, but for what only audits read."""
    passages = [[p.id, p.source, p.title, p.text, p.metadata.get("start")] for p in record.passages]
    names = (record.family, record.construction, record.group, int(record.label), record.question)
    return content_key("record", *names, passages)


def read_scores(paths: Iterable[Path]) -> list[ScoreTable]:
    """One table a label, in the order in which labels first come; files of one label are put together.

    Raises InputError for a file that is no score file, and where two files of one label hold the same record.
    """
    tables: dict[str, ScoreTable] = {}
    for path in paths:
        table = _read(path)
        tables[table.label] = _joined(tables[table.label], table, path) if table.label in tables else table
    return list(tables.values())


def _read(path: Path) -> ScoreTable:
    first, rest = read_journal(path)
    header = validated(ScoreHeader, first, f"{path}, line 1")
    if header.version != VERSION:
        raise InputError(f"{path} has version {header.version}, {VERSION} is read here; score again")
    rows = [validated(ScoreRow, row, f"{path}, line {line}") for line, row in enumerate(rest, start=2)]
    seen = frozenset((row.family, row.construction) for row in rows if row.family in set(header.fitted_on))
    return ScoreTable(header.label, {row.record: row for row in rows}, seen, header.at_once)


def _joined(first: ScoreTable, second: ScoreTable, path: Path) -> ScoreTable:
    if first.rows.keys() & second.rows.keys():
        raise InputError(
            f"{path}: {second.label} has scored some of these records in another file; give --label to one"
        )
    rows = {**first.rows, **second.rows}
    return ScoreTable(first.label, rows, first.seen | second.seen, max(first.at_once, second.at_once))


M = TypeVar("M", bound=BaseModel)


def validated(model: type[M], row: Row, where: str, kind: str = "score file") -> M:
    """A row as its model. Raises InputError that says where it does not fit, and that it is no `kind`."""
    try:
        return model.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        said = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{': '.join(filter(None, (where, place, said)))}; this is no {kind}") from error


def scored_rows(table: ScoreTable, family: str, construction: str) -> Sequence[ScoreRow]:
    """The rows of one set that have a score."""
    return [
        row
        for row in table.rows.values()
        if row.score is not None and (row.family, row.construction) == (family, construction)
    ]
