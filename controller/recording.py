"""The recorder of one run: appends events, prices them, times them, and tells whoever listens."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from ..tools.errors import BudgetExhausted
from .budget import Ledger
from .trace import Event, Fault, Listener, Stage, Started, Stopped, trace_id

T = TypeVar("T")


class Recorder:
    """Keeps a run's events in order, with what each cost and when it came."""

    def __init__(self, started: Started, ledger: Ledger, listener: Listener | None) -> None:
        self._ledger = ledger
        self._listener = listener
        self._events: list[Event] = []
        self._cost: dict[str, int] = {}
        self._stage: Stage = "open"
        self.timings: dict[str, float] = {}
        self.trace_id = trace_id(started)
        self.append(started)

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far."""
        return tuple(self._events)

    @contextmanager
    def stage(self, name: Stage, ledger: Ledger | None = None) -> Iterator[None]:
        """What happens inside belongs to this stage: its time is added up, and what it spends is the cost of
        the event that ends it.

        Work that was paid from a purse names it as `ledger`; all that the purse spent is then the cost.
        """
        before = {} if ledger else self._ledger.cost()
        entered = self._ledger.elapsed
        self._stage = name
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + self._ledger.elapsed - entered
            after = (ledger or self._ledger).cost()
            spent = {name: amount - before.get(name, 0) for name, amount in after.items()}
            self._cost = {name: amount for name, amount in spent.items() if amount}

    async def timed(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        """Do work that goes on beside the stages; its own time is added up under a name of its own."""
        entered = self._ledger.elapsed
        try:
            return await work()
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + self._ledger.elapsed - entered

    def append(self, event: Event) -> None:
        """Stamp an event with its stage's cost and the time, keep it, and tell the listener."""
        event = replace(event, cost=self._cost, at=self._ledger.elapsed)
        self._cost = {}
        self._events.append(event)
        if self._listener is not None:
            self._listener(event)

    def fault(self, error: Exception) -> None:
        """Record that the current stage failed."""
        self.append(Fault(stage=self._stage, error=type(error).__name__, message=str(error)))

    def stopped(self, spent: BudgetExhausted) -> None:
        """Record that a limit ended the run in the current stage."""
        self.append(Stopped(stage=self._stage, limit=spent.limit, allowed=spent.allowed))
