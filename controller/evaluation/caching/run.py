"""Every method over one stream, at every threshold that it is tried at; resumable after each of these.

The thresholds follow from the method's own scores: it is first run so that it never serves, and the quantiles
of what it judged by are then tried, so that every method's curve has points wherever it has something to say.
What a cache holds depends on its threshold, so each is a run of its own.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from pydantic import BaseModel, ConfigDict

from ..contrasts.scoring import Progress
from ..journal import Journal
from .asking import Method, Outcome, outcome
from .stream import Event, Finite, stream_key

VERSION: Final = 3


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CachingHeader(_Frozen):
    """What ran. A file goes on only under the same header.

    `settings` stands for all that decides in RINSE; `passages` are looked up for a question; `levels` counts
    the thresholds of each method.
    """

    version: int = VERSION
    stream: str
    settings: str
    models: dict[str, str]
    passages: int
    levels: dict[str, int]


class CachingRow(_Frozen):
    """One method at one threshold over the whole stream, event by event.

    `threshold` None is that of a fixed method, and for any other one that nothing reaches. `scores` are what
    it judged by before any fetch.
    """

    method: str
    threshold: Finite | None
    scores: tuple[Finite | None, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The methods, and how many thresholds each that is not fixed is tried at."""

    methods: tuple[Method, ...]
    levels: dict[str, int]

    def header(
        self, events: Sequence[Event], settings: str, models: dict[str, str], passages: int
    ) -> CachingHeader:
        """What stands in the head of the file."""
        return CachingHeader(
            stream=stream_key(events),
            settings=hashlib.sha256(settings.encode()).hexdigest()[:16],
            models=models,
            passages=passages,
            levels=self.levels,
        )


def levels(scores: Sequence[float | None], count: int) -> list[float]:
    """At most `count` thresholds, ascending: quantiles of the scores that there are, each once."""
    found = np.array([score for score in scores if score is not None])
    if not len(found):
        return []
    # The highest score is a threshold too: a curve begins where one event at most is served.
    return sorted({float(level) for level in np.quantile(found, np.linspace(0, 1, count), method="nearest")})


async def run_stream(
    plan: Plan, events: Sequence[Event], header: CachingHeader, path: Path, progress: Progress
) -> list[CachingRow]:
    """Run what the file at `path` does not hold yet, and write it there, each row durable.

    `progress` is told rows done and rows in all. Raises InputError where the file is another run's,
    StorageError where the disk refuses, ModelOutputError where a model fails.
    """
    with Journal(path, header.model_dump(mode="json")) as journal:
        run = _Run(events, journal)
        total = sum(1 if m.fixed else plan.levels[m.name] + 1 for m in plan.methods)
        rows: list[CachingRow] = []
        for method in plan.methods:
            first = await run.row(method, None)
            rows.append(first)
            # High thresholds come first: they are those with few wrong hits, and quickly run.
            chosen = [] if method.fixed else levels(first.scores, plan.levels[method.name])
            for level in reversed(chosen):
                progress(len(rows), total)
                rows.append(await run.row(method, level))
        progress(total, total)
    return rows


class _Run:
    def __init__(self, events: Sequence[Event], journal: Journal) -> None:
        self._events = events
        self._journal = journal
        found = map(CachingRow.model_validate, journal.rows)
        self._done = {(row.method, row.threshold): row for row in found}

    async def row(self, method: Method, threshold: float | None) -> CachingRow:
        """The row, run only where the file does not hold it."""
        known = self._done.get((method.name, threshold))
        if known is not None:
            return known
        scores: list[float | None] = []
        outcomes: list[Outcome] = []
        with method.opened(float("inf") if threshold is None else threshold) as cache:
            for event in self._events:
                asked = await cache.ask(event)
                scores.append(asked.score)
                outcomes.append(outcome(event, asked))
        row = CachingRow(
            method=method.name, threshold=threshold, scores=tuple(scores), outcomes=tuple(outcomes)
        )
        self._journal.append([row.model_dump(mode="json")])
        return row
