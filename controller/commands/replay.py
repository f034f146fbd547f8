"""`sufficit replay`: decide a recorded run again, without models, and say where it differs."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..console import out, print_json
from ..layers import parse_assignment
from ..replay import Difference, Replay, recorded_settings
from ..replay import replay as replay_trace
from ..report import plain
from ..trace import Started, read_trace
from .settings import AsJson, Assignments

DIFFERENT = 1
SHOWN = 40


def replay(
    trace: Annotated[Path, typer.Argument(help="A file that `ask --trace` wrote.")],
    assignments: Assignments = None,
    as_json: AsJson = False,
) -> None:
    """Decide the run in TRACE again; exit code 0 if every decision is the same, 1 if not.

    With --set it tells what other settings would have decided on the same measurements.
    """
    events = read_trace(trace)
    changes = dict(parse_assignment(text) for text in assignments or ())
    started = events[0]
    settings = recorded_settings(started, changes) if isinstance(started, Started) else None
    result = asyncio.run(replay_trace(events, settings))
    if as_json:
        differences = [asdict(difference) for difference in result.differences]
        print_json({"same": result.same, "diverged": result.diverged, "differences": differences})
    else:
        _print(result, len(events))
    if not result.same:
        raise typer.Exit(DIFFERENT)


def _print(result: Replay, recorded: int) -> None:
    if result.same:
        out.print(f"{recorded} events, all the same")
        return
    for difference in result.differences[:SHOWN]:
        out.print(_readable(difference), markup=False, soft_wrap=True)
    if len(result.differences) > SHOWN:
        out.print(f"and {len(result.differences) - SHOWN} more; --json lists all")
    if result.diverged:
        out.print(
            f"the replay ends after {len(result.events)} of {recorded} events: {result.diverged}",
            markup=False,
        )


def _readable(difference: Difference) -> str:
    where = f"event {difference.event} ({difference.kind}) {difference.key}"
    return plain(f"{where}: recorded {difference.recorded!r}, now {difference.replayed!r}")
