"""Every limit of a run, spent and left, in one place.

A limit is spent before the work it pays for, so no run exceeds one. Generated tokens are the exception that
needs care: how many come is known only afterwards, so the most that can come is reserved first and what was
not used is given back.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..tools.errors import BudgetExhausted

PROMPT_TOKENS = "prompt_tokens"
"""What a cost calls the tokens that the generator and RINSE's encoder read."""

READER_CALLS = "reader_calls"
"""What a cost calls the calls of rerankers and small readers, a batch counts once."""

UNBOUNDED = (PROMPT_TOKENS, READER_CALLS)
"""What is counted and no limit bounds, so that accounts do not name it."""

Limit = Literal["rounds", "passages", "web_fetches", "generated_tokens", "model_calls", "seconds"]


class BudgetSettings(BaseModel):
    """What one question may cost at most."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rounds: int = Field(default=3, ge=1, le=20, description="retrieval rounds")
    passages: int = Field(default=20, ge=1, le=500, description="passages in the evidence pool")
    web_fetches: int = Field(default=4, ge=0, le=100, description="pages fetched from the web")
    generated_tokens: int = Field(
        default=2048, ge=0, le=1_000_000, description="tokens generated, probes included"
    )
    model_calls: int = Field(
        default=40, ge=0, le=100_000, description="calls of the generator, a batch counts once"
    )
    seconds: float = Field(default=120.0, gt=0, le=86_400, description="wall-clock time")


@dataclass(frozen=True, slots=True)
class Account:
    """Spent and left of every limit, as it goes into answers and decisions."""

    spent: dict[str, float]
    left: dict[str, float]


class Ledger:
    """The running account of one question."""

    def __init__(self, limits: BudgetSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._started = clock()
        self._spent: dict[str, int] = {
            "rounds": 0,
            "passages": 0,
            "web_fetches": 0,
            "generated_tokens": 0,
            "model_calls": 0,
        }
        self._unbounded = dict.fromkeys(UNBOUNDED, 0)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._started

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline; negative after it."""
        return self._limits.seconds - self.elapsed

    def left(self, limit: str) -> int:
        """What remains of a counted limit."""
        allowed: int = getattr(self._limits, limit)
        return allowed - self._spent[limit]

    def spend(self, limit: str, amount: int = 1) -> None:
        """Take `amount` (negative gives back); raises BudgetExhausted, taking nothing, if there is less."""
        if amount > self.left(limit):
            raise BudgetExhausted(limit, getattr(self._limits, limit))
        self._spent[limit] += amount

    def count(self, name: str, amount: int = 1) -> None:
        """Count something of `UNBOUNDED`."""
        self._unbounded[name] += amount

    def charge(self, cost: Mapping[str, int]) -> None:
        """Take a cost as `cost` gives it; raises BudgetExhausted as `spend` does."""
        for name, amount in cost.items():
            if name in UNBOUNDED:
                self.count(name, amount)
            else:
                self.spend(name, amount)

    def purse(self, amounts: Mapping[str, int]) -> "Ledger":
        """A ledger of its own that holds `amounts`, taken from this one, for work done beside the loop.

        What such work costs, and when it ends, depends on the machine. While the purse is out this ledger
        shows the most it can cost, so that every decision sees the same numbers from run to run.
        """
        for limit, amount in amounts.items():
            self.spend(limit, amount)
        return Ledger(self._limits.model_copy(update=dict(amounts)), self._clock)

    def take_back(self, purse: "Ledger", amounts: Mapping[str, int]) -> None:
        """Put what is left of a purse's `amounts` back into this ledger."""
        for limit in amounts:
            self.spend(limit, -purse.left(limit))

    def spent(self) -> dict[str, int]:
        """A copy of what was spent of each counted limit."""
        return dict(self._spent)

    def cost(self) -> dict[str, int]:
        """What was spent of each counted limit, and what was counted without one."""
        return {**self._spent, **self._unbounded}

    def account(self) -> Account:
        """Spent and left of every limit, the clock included."""
        spent: dict[str, float] = {**self._spent, "seconds": self.elapsed}
        left: dict[str, float] = {name: self.left(name) for name in self._spent}
        return Account(spent, {**left, "seconds": max(0.0, self.seconds_left)})
