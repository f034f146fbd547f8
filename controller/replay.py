"""Decide a recorded run again, without any model: the same loop over a tape of what was measured.

With the recorded settings every event must come out the same. With other settings (`--set igp.threshold=0`)
the replay shows what they change, as far as the recorded measurements reach: where the run would need a
number that nobody measured, it stops and says so.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ..policies.action import ThresholdAction
from ..policies.pruning import build_pruner
from ..policies.query import UncoveredWindows
from ..policies.trustmargin import TrustMargin
from ..tools.errors import TraceError
from ..tools.types import PassageKey
from .budget import Ledger
from .layers import put
from .loop import Controller, LoopSettings
from .settings import Settings, validated
from .stages import Stages
from .tape import (
    Diverged,
    RecordedOpener,
    RecordedPruning,
    RecordedSearch,
    RecordedSufficiency,
    RecordedViews,
    RecordedWriter,
    Tape,
)
from .trace import Event, Pruned, Started, to_json, without_times
from .writing import opening_price


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that came out otherwise. `event` counts from 1; `key` is dotted; None stands for absent."""

    event: int
    kind: str
    key: str
    recorded: Any
    replayed: Any


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay found. `diverged` says where it could not go on, None if it came to the end."""

    events: tuple[Event, ...]
    differences: tuple[Difference, ...]
    diverged: str | None

    @property
    def same(self) -> bool:
        """Whether the replay is the recorded run, event by event, times aside."""
        return not self.differences and self.diverged is None


async def replay(recorded: Sequence[Event], settings: Settings | None = None) -> Replay:
    """Run the loop again over a recorded trace, with its own settings or with others.

    Raises TraceError if the trace holds no settings that this release understands.
    """
    started = recorded[0]
    if not isinstance(started, Started):
        raise TraceError("a trace begins with `started`")
    settings = settings or recorded_settings(started)
    replayed: list[Event] = []
    controller = _controller(recorded, started, settings)
    diverged = None
    try:
        await controller.answer(started.question, replayed.append)
    except Diverged as stop:
        diverged = str(stop)
    return Replay(tuple(replayed), tuple(_differences(recorded, replayed)), diverged)


def recorded_settings(started: Started, changes: Mapping[str, Any] | None = None) -> Settings:
    """The settings a run was made with, `changes` (dotted keys) on top.

    Raises SettingsError if they do not fit this release.
    """
    tree = copy.deepcopy(started.settings)
    for key, value in (changes or {}).items():
        put(tree, key, value)
    return validated(tree, dict.fromkeys(changes or {}, "--set"))


def _controller(recorded: Sequence[Event], started: Started, settings: Settings) -> Controller:
    """The loop over one tape; every policy that only decides is the real one."""
    tape = Tape(recorded)
    price = opening_price(settings.generator.answer_tokens, settings.igp.max_tokens)
    admitted = _read_by_the_writer(recorded)

    def assemble(ledger: Ledger) -> Stages:
        pruning = RecordedPruning(tape, ledger, settings.rinse.threshold)
        return Stages(
            opener=RecordedOpener(tape, ledger, price),
            retriever=RecordedSearch(tape, ledger, "retrieve"),
            web=RecordedSearch(tape, ledger, "web") if started.web else None,
            sufficiency=RecordedSufficiency(tape, ledger, settings.rinse.threshold),
            action=ThresholdAction(),
            query=UncoveredWindows(),
            pruner=build_pruner(pruning, pruning, settings.igp),
            writer=RecordedWriter(tape, ledger, admitted),
            arbiter=TrustMargin(RecordedViews(tape, ledger), settings.trustmargin),
        )

    return Controller(assemble, LoopSettings.of(settings), lambda _: started)


def _read_by_the_writer(recorded: Sequence[Event]) -> tuple[PassageKey, ...] | None:
    """Keys of the passages that the recorded RAG answer was written from, None where pruning had failed."""
    return next((event.report.admitted for event in recorded if isinstance(event, Pruned)), None)


def _differences(recorded: Sequence[Event], replayed: Sequence[Event]) -> Iterator[Difference]:
    for number, (before, after) in enumerate(zip_longest(recorded, replayed), start=1):
        old, new = (without_times(to_json(event)) if event else None for event in (before, after))
        kind = (after or before).kind
        for key, was, is_now in _unequal(old, new, ""):
            yield Difference(number, kind, key, was, is_now)


def _unequal(old: Any, new: Any, key: str) -> Iterator[tuple[str, Any, Any]]:
    """Every leaf at which two JSON values differ, with its dotted key."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            yield from _unequal(old.get(name), new.get(name), f"{key}.{name}" if key else name)
    elif isinstance(old, list) and isinstance(new, list):
        for place, (was, is_now) in enumerate(zip_longest(old, new)):
            yield from _unequal(was, is_now, f"{key}.{place}")
    elif old != new:
        yield key, old, new
