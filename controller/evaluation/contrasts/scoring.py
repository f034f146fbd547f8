"""Scoring records: resumable, durable after every batch, each record timed, what cannot be scored counted."""

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ....policies.rinse.records import ContrastRecord, read_records
from ....policies.rinse.sampling import sample_groups, usable
from ....policies.scorers.types import Scored, Scorer
from ....tools.errors import InputError, ModelOutputError
from ..journal import Journal
from .scores import ScoreHeader, ScoreRow, record_key

Progress = Callable[[int, int], None]
"""Called with how many records are done, and how many there are."""


def read_contrasts(files: Iterable[Path]) -> tuple[list[ContrastRecord], int]:
    """The records of all files whose groups hold both labels, and how many others there were.

    Groups are told apart by family and construction. Raises InputError as `read_records`, and where no group
    has both labels.
    """
    kept, skipped = usable(
        replace(record, group=f"{record.construction}/{record.group}")
        for file in files
        for record in read_records(file)
    )
    if not kept:
        raise InputError("no group holds a sufficient and an insufficient record: nothing to score")
    return kept, skipped


def by_set(records: Iterable[ContrastRecord]) -> dict[tuple[str, str], list[ContrastRecord]]:
    """The records of every (family, construction), in sorted order of these."""
    sets: dict[tuple[str, str], list[ContrastRecord]] = {}
    for record in records:
        sets.setdefault((record.family, record.construction), []).append(record)
    return dict(sorted(sets.items()))


def sampled(records: Sequence[ContrastRecord], groups: int | None, seed: int) -> list[ContrastRecord]:
    """At most `groups` groups of every family and construction; a smaller sample is part of a larger one."""
    sets = by_set(records).values()
    return [record for members in sets for record in sample_groups(members, groups, seed)]


async def score_records(
    records: Mapping[str, ContrastRecord],
    scorer: Scorer,
    header: ScoreHeader,
    path: Path,
    progress: Progress,
) -> list[ScoreRow]:
    """Score what the file at `path` does not hold yet, and write it there; returns the rows of `records`.

    `records` are by their keys. A record on which the scorer raises InputError or ModelOutputError, or gives
    NaN, gets a row that says so. Raises InputError where the file is another run's, ModelOutputError where
    not one record could be scored, StorageError where the disk refuses.
    """
    with Journal(path, header.model_dump(mode="json")) as journal:
        done = {str(row["record"]): ScoreRow.model_validate(row) for row in journal.rows}
        left = [(key, record) for key, record in records.items() if key not in done]
        progress(len(records) - len(left), len(records))
        for start in range(0, len(left), header.at_once):
            batch = left[start : start + header.at_once]
            rows = await _batch(batch, scorer)
            journal.append(row.model_dump(mode="json") for row in rows)
            done |= {row.record: row for row in rows}
            progress(len(records) - len(left) + start + len(batch), len(records))
    found = [done[key] for key in records]
    if found and all(row.score is None for row in found):
        raise ModelOutputError(f"no record could be scored by {scorer.name}; the first: {found[0].skipped}")
    return found


async def _batch(batch: Sequence[tuple[str, ContrastRecord]], scorer: Scorer) -> list[ScoreRow]:
    began = time.perf_counter()
    rows = await asyncio.gather(*(_row(key, record, scorer) for key, record in batch))
    share = (time.perf_counter() - began) / len(batch)
    return [row.model_copy(update={"share": share}) for row in rows]


async def _row(key: str, record: ContrastRecord, scorer: Scorer) -> ScoreRow:
    began = time.perf_counter()
    scored, skipped = await _scored(record, scorer)
    seconds = time.perf_counter() - began
    return ScoreRow(
        record=key,
        family=record.family,
        construction=record.construction,
        group=record.group,
        label=record.label,
        score=scored.value if scored else None,
        terms=dict(scored.terms) if scored else {},
        note=scored.note if scored else "",
        skipped=skipped,
        seconds=seconds,
        share=seconds,
    )


async def _scored(record: ContrastRecord, scorer: Scorer) -> tuple[Scored | None, str]:
    """The score, or why there is none."""
    try:
        scored = await scorer.score(record.question, record.passages)
    except (InputError, ModelOutputError) as error:
        return None, str(error).partition("\n")[0]
    if not all(map(math.isfinite, (scored.value, *scored.terms.values()))):
        return None, f"{scorer.name} gave a score that is not finite"
    return scored, ""


def keyed(records: Iterable[ContrastRecord]) -> dict[str, ContrastRecord]:
    """Records by their keys; one that comes twice is scored once."""
    return {record_key(record): record for record in records}
