"""What all routes share, and what one request is known by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ...policies.kept_for import KeptFor
from ...policies.types import Sufficiency, SufficiencyReport
from ...tools.protocols import Generator, Retriever
from ..answer import Answer
from ..budget import BudgetSettings
from ..cache.node import CacheNode
from ..settings import Settings
from ..trace import Event, Listener
from .keys import Client, Keys
from .waiting import WaitingRoom

if TYPE_CHECKING:
    from .spans import Spans  # OpenTelemetry is an extra of its own

DEFAULT_INDEX = "default"


@dataclass(frozen=True, slots=True)
class Call:
    """One request: its id, as in X-Request-ID, who sent it, and the route's path."""

    request_id: str
    client: Client
    path: str


class Observer(Protocol):
    """Whoever counts, traces or logs what the service does. It must neither raise nor wait."""

    def heard(self, call: Call, event: Event) -> None:
        """An event of a run, as it happens; `finished` is a run's last unless the client goes away."""
        ...

    def decided(self, call: Call, report: SufficiencyReport, seconds: float) -> None:
        """One question of /v1/decide was decided, in so many seconds."""
        ...


class Answers(Protocol):
    """Whoever answers questions: a Controller, or one whose work is traced."""

    async def answer(
        self, question: str, listener: Listener | None = None, budget: BudgetSettings | None = None
    ) -> tuple[Answer, tuple[Event, ...]]:
        """As `Controller.answer`."""
        ...


@dataclass(slots=True)
class Life:
    """Whether the service still takes requests."""

    draining: bool = False


@dataclass(frozen=True, slots=True)
class Service:
    """Everything loaded. `indexes` are those that /v1/decide may search, `default` among them.

    `under` gives a controller over the same tools under other settings, such as the prompts of one
    conversation; `generator` counts a prompt's tokens. `kept_for` decides where a caller says what passages
    were kept for; None leaves that to RINSE. `spans` is None where nothing is traced.
    """

    settings: Settings
    controller: Answers
    under: Callable[[Settings], Answers]
    generator: Generator
    sufficiency: Sufficiency
    indexes: Mapping[str, Retriever]
    keys: Keys
    room: WaitingRoom
    cache: CacheNode
    kept_for: KeptFor | None = None
    life: Life = field(default_factory=Life)
    observers: list[Observer] = field(default_factory=list)
    spans: "Spans | None" = None
