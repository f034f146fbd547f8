"""The typed events of one run: written, read back, replayed.

A trace is a JSONL file, one event a line, the first `started`, the last `finished`. It holds every
measurement a decision rested on, so `replay` can decide again without a model. Two runs of the same question
with the same settings and the same tool results give the same trace but for times.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ..policies.types import Decision, PruneReport, SufficiencyReport, Verdict
from ..tools.errors import StorageError, TraceError
from ..tools.types import Generation, Passage, PassageKey
from .answer import Answer
from .stages import PageVisit

VERSION = 2

# Keys whose values are times: they differ between two runs that are otherwise the same.
TIMES = frozenset({"at", "seconds", "timings"})


Origin = Literal["index", "web"]
Stage = Literal["open", "retrieve", "web", "score", "prune", "write", "arbitrate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamped:
    """What the recorder adds to every event: its cost, and `at`, seconds since the run began.

    The cost is by counted limit, and `prompt_tokens`, which traces of earlier releases lack.
    """

    cost: dict[str, int] = field(default_factory=dict)
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(Stamped):
    """The question and all that decides how it is treated. `settings` is the effective settings object.

    `models` are names and hashes of all that measures; `web` says whether the web could be asked.
    """

    kind: Literal["started"] = "started"
    version: int
    question: str
    settings: dict[str, Any]
    models: dict[str, str]
    web: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(Stamped):
    """The closed-book answer and NU(q), neither of which needs a passage."""

    kind: Literal["opened"] = "opened"
    direct: Generation
    baseline: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved(Stamped):
    """One round of retrieval, or one visit to the web. `new` are the keys that the pool did not hold.

    `pages` are those that the visit fetched, each with what went wrong.
    """

    kind: Literal["retrieved"] = "retrieved"
    origin: Origin
    query: str
    passages: tuple[Passage, ...]
    new: tuple[PassageKey, ...]
    pages: tuple[PageVisit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored(Stamped):
    """The sufficiency of the pool as it stood."""

    kind: Literal["scored"] = "scored"
    report: SufficiencyReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided(Stamped):
    """What the controller chose to do next, and why."""

    kind: Literal["decided"] = "decided"
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned(Stamped):
    """Which passages were admitted."""

    kind: Literal["pruned"] = "pruned"
    report: PruneReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrote(Stamped):
    """The RAG answer, and the passages that its prompt had room for."""

    kind: Literal["wrote"] = "wrote"
    rag: Generation
    read: tuple[PassageKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arbitrated(Stamped):
    """Which answer is trusted."""

    kind: Literal["arbitrated"] = "arbitrated"
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(Stamped):
    """A tool failed in a stage; the run went on without what it would have brought."""

    kind: Literal["fault"] = "fault"
    stage: Stage
    error: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped(Stamped):
    """A limit ended the run in a stage."""

    kind: Literal["stopped"] = "stopped"
    stage: Stage
    limit: str
    allowed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Stamped):
    """How the question ended."""

    kind: Literal["finished"] = "finished"
    answer: Answer


Event = Annotated[
    Started
    | Opened
    | Retrieved
    | Scored
    | Decided
    | Pruned
    | Wrote
    | Arbitrated
    | Fault
    | Stopped
    | Finished,
    Field(discriminator="kind"),
]
# JSON has no infinity; as strings they read back as the numbers they were.
_EVENT: TypeAdapter[Event] = TypeAdapter(Event, config=ConfigDict(ser_json_inf_nan="strings"))

Listener = Callable[[Event], None]


def to_json(event: Event) -> dict[str, Any]:
    """An event as plain JSON values."""
    value: dict[str, Any] = json.loads(_EVENT.dump_json(event))
    return value


def from_json(value: Any) -> Event:
    """The event that `to_json` gave. Raises TraceError where the value is none."""
    try:
        return _EVENT.validate_python(value)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise TraceError(f"no event of a trace: {where}: {problem['msg']}") from error


def without_times(value: Any) -> Any:
    """The same JSON value with everything left out that is a time."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return value


def trace_id(started: Started) -> str:
    """Name of a trace: a hash of the question, the settings and the models, times left out."""
    canonical = json.dumps(without_times(to_json(started)), sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(canonical.encode(), digest_size=8).hexdigest()


def check_trace_place(path: Path) -> None:
    """Raises StorageError where no trace could be written; asked before a run, so that none is lost."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise StorageError(f"cannot write the trace {path}: it is no regular file. Name another place.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise StorageError(f"cannot write the trace {path}: {error.strerror}. Name another place.") from error


def write_trace(path: Path, events: Iterable[Event]) -> None:
    """Write a trace whole or not at all; a link's target is replaced, not the link. Raises StorageError."""
    check_trace_place(path)
    target = path.resolve()
    lines = [json.dumps(to_json(event), ensure_ascii=True) for event in events]
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        raise StorageError(f"cannot write the trace {path}: {error.strerror}. Name another place.") from error
    finally:
        part.unlink(missing_ok=True)


def read_trace(path: Path) -> tuple[Event, ...]:
    """Read a trace back. Raises TraceError if the file is absent, damaged, or of another version."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TraceError(f"cannot read the trace {path}: {error}") from error
    events: list[Event] = []
    for number, line in enumerate(lines, start=1):
        try:
            events.append(_EVENT.validate_json(line))
        except ValidationError as error:
            if number == 1:
                raise TraceError(f"{path} is no trace: its line 1 is no `started` event") from error
            problem = error.errors()[0]
            where = ".".join(str(part) for part in problem["loc"])
            raise TraceError(f"{path}, line {number}: {where}: {problem['msg']}") from error
    if not events or not isinstance(events[0], Started) or not isinstance(events[-1], Finished):
        raise TraceError(f"{path} is no whole trace: it must begin with `started` and end with `finished`")
    if events[0].version != VERSION:
        raise TraceError(f"{path} has trace version {events[0].version}; this release reads {VERSION}")
    return tuple(events)
