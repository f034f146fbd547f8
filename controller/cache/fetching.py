"""What a miss brings: pages of the web by the safe fetcher, or what the operator's webhook answers."""

from dataclasses import dataclass
from typing import Protocol

from ...tools.errors import ToolError
from ...tools.web.settings import WebSettings
from ...tools.web.toolbox import WebTools
from ..budget import BudgetSettings, Ledger
from ..stages import PageVisit
from ..web import Keeper, WebEvidence


@dataclass(frozen=True, slots=True)
class Need:
    """What somebody wants to know, and whose passages may answer it."""

    question: str
    scope: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one fetch asked and what came of it; `fault` says why it could not ask at all, "" if it could."""

    pages: tuple[PageVisit, ...]
    fault: str = ""

    @property
    def passages(self) -> int:
        """How many passages were kept."""
        return sum(page.passages for page in self.pages if not page.fault)

    @property
    def faults(self) -> tuple[str, ...]:
        """All that went wrong, each with the page it went wrong with."""
        pages = tuple(f"{page.url}: {page.fault}" for page in self.pages if page.fault)
        return (self.fault, *pages) if self.fault else pages


class Fetch(Protocol):
    """Brings passages for a need and keeps them."""

    async def fetch(self, need: Need, keeper: Keeper) -> Fetched:
        """Everything that was brought is kept, durably, when it returns; what failed is in the result.

        Raises UsageError where the operator has to mend something.
        """
        ...


@dataclass(frozen=True, slots=True)
class WebFetch:
    """Searches the web for the question, and keeps whole pages."""

    tools: WebTools
    settings: WebSettings

    async def fetch(self, need: Need, keeper: Keeper) -> Fetched:
        """See Fetch."""
        ledger = Ledger(BudgetSettings(web_fetches=self.settings.pages_per_visit))
        try:
            visit = await WebEvidence(self.tools, self.settings, ledger, keeper).gather(need.question)
        except ToolError as error:
            return Fetched((), f"the search failed: {error}")
        return Fetched(visit.pages, "" if visit.pages else "the search found no page")
