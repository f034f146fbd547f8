"""One question through the controller, within what the server, the key and the request allow.

Every route that answers goes through here: /v1/answer as JSON and as events, /v1/chat/completions.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from ..answer import Answer
from ..budget import BudgetSettings
from ..question import checked_question
from ..trace import Event, Finished, Listener
from .fields import Count, Positive
from .service import Call, Service

TOKENS = "generated_tokens"
BUDGET = "tokens_per_day"


class RequestBudget(BaseModel):
    """What this question may cost at most; each limit is capped by the server's and none is the server's."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    rounds: Positive | None = Field(default=None, description="retrieval rounds")
    passages: Positive | None = Field(default=None, description="passages in the evidence pool")
    web_fetches: Count | None = Field(default=None, description="pages fetched from the web")
    generated_tokens: Count | None = Field(default=None, description="tokens generated, probes included")
    model_calls: Count | None = Field(default=None, description="calls of the generator")
    seconds: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="wall-clock seconds, time in the queue included"
    )


async def answered(
    service: Service,
    call: Call,
    question: str,
    wanted: RequestBudget | None = None,
    listener: Listener | None = None,
) -> tuple[Answer, tuple[Event, ...]]:
    """Wait for a turn, then answer or abstain; returns the answer and the run's trace.

    `listener` and the service's observers get every event as it happens. Raises Refused 429 and 504 as the
    queue and the key's budget say, and what `Controller.answer` raises.
    """
    checked_question(question, service.settings.question_characters)
    limits = capped(service.settings.budget, wanted)

    async with service.room.turn(limits.seconds) as seconds:
        with _reserved(service, call, limits.generated_tokens) as purse:

            def tell(event: Event) -> None:
                purse.heard(event)
                for observer in service.observers:
                    observer.heard(call, event)
                if listener is not None:
                    listener(event)

            budget = limits.model_copy(update={"generated_tokens": purse.reserved, "seconds": seconds})
            return await service.controller.answer(question, tell, budget)


def capped(server: BudgetSettings, wanted: RequestBudget | None) -> BudgetSettings:
    """The server's budget, each limit lowered to what the request wants where that is less."""
    asked = wanted.model_dump(exclude_none=True) if wanted else {}
    return server.model_copy(
        update={name: min(getattr(server, name), value) for name, value in asked.items()}
    )


@dataclass(slots=True)
class _Purse:
    """Tokens reserved from the key's budget of the day, and how many of them the run has used."""

    reserved: int
    used: int = 0

    def heard(self, event: Event) -> None:
        """Count what an event cost; the answer's own account is exact."""
        spent = event.answer.budget.spent if isinstance(event, Finished) else None
        self.used = int(spent[TOKENS]) if spent else self.used + event.cost.get(TOKENS, 0)


@contextmanager
def _reserved(service: Service, call: Call, most: int) -> Iterator[_Purse]:
    """Take what the run may use at most, or what the key has left; what was not used goes back."""
    left = service.keys.left(call.client, BUDGET)
    if left is not None and left < 1:
        service.keys.spend(call.client, BUDGET, 1)  # raises, with the time when the budget is new
    purse = _Purse(most if left is None else min(most, left))
    service.keys.spend(call.client, BUDGET, purse.reserved)
    try:
        yield purse
    finally:
        service.keys.spend(call.client, BUDGET, purse.used - purse.reserved)
