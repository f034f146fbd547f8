"""A stream of questions over time, each with what a fetch would bring: what caches are compared on.

One JSON object a line:

    {"time": 3600, "id": "q7", "need": "n3", "question": "Where does the Rhine rise?", "ttl": 86400,
     "passages": [{"id": "p1", "text": "The Rhine rises in the Alps.", "title": "Rhine"}], "support": ["p1"]}

`kind` and `group` may be added. Times are seconds since the stream began and never fall.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ....tools.errors import InputError
from ....tools.types import Passage
from ..new_file import write_new

Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StreamPassage(_Frozen):
    """A passage that a fetch brings; the same id is the same text throughout the stream."""

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    title: str = ""

    def passage(self) -> Passage:
        """Each is a document of its own, so that one fetch never takes the place of another's passages."""
        return Passage(self.id, self.text, self.title, self.id)


class Event(_Frozen):
    """One question that arrives.

    `time` in seconds since the stream began. Events with the same `need` want the same thing. A fetch would
    bring `passages`, which are out of date after `ttl` seconds. `support` holds the ids of the passages that
    are needed to answer, all of them; () where nothing in the stream answers. `kind` says how the event came
    about; events of one `group`, by default the need, are drawn together by the bootstrap.
    """

    time: Finite = Field(ge=0)
    id: str = Field(min_length=1)
    need: str = Field(min_length=1)
    question: str = Field(min_length=1, pattern=r"\S")
    passages: tuple[StreamPassage, ...]
    support: tuple[str, ...]
    ttl: Finite = Field(gt=0)
    kind: str = ""
    group: str = ""

    @property
    def drawn_with(self) -> str:
        """The group, or the need where there is none."""
        return self.group or self.need


def read_stream(path: Path) -> list[Event]:
    """All events of a JSON Lines file. Raises InputError naming the line that cannot be used."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    events: list[Event] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            events.append(Event.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the line"
            raise InputError(f"{path}, line {number}: {place}: {first['msg']}") from error
    _check(path, events)
    return events


def _check(path: Path, events: Sequence[Event]) -> None:
    if not events:
        raise InputError(f"{path} holds no event; `sufficit eval cache build` makes a stream")
    texts: dict[str, str] = {}
    seen: set[str] = set()
    last = 0.0
    for event in events:
        if event.id in seen:
            raise InputError(f"{path}: two events have the id {event.id!r}")
        if event.time < last:
            raise InputError(f"{path}: event {event.id!r} comes before its predecessor; sort by time")
        seen.add(event.id)
        last = event.time
        for passage in event.passages:
            if texts.setdefault(passage.id, passage.text) != passage.text:
                raise InputError(f"{path}: event {event.id!r} gives passage {passage.id!r} another text")


def write_stream(path: Path, events: Iterable[Event]) -> None:
    """Write a stream, whole or not at all. Raises InputError where the file is there already."""
    write_new(path, "".join(event.model_dump_json() + "\n" for event in events))


def stream_key(events: Iterable[Event]) -> str:
    """Sixteen hexadecimal digits that stand for the whole stream."""
    digest = hashlib.sha256()
    for event in events:
        digest.update(event.model_dump_json().encode() + b"\n")
    return digest.hexdigest()[:16]
