"""The loop's web: search, fetch side by side within the run's fetches, extract, keep the best passages."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

from ..tools.errors import BudgetExhausted, RunError, UsageError
from ..tools.retrievers.expiry import EXPIRES, FETCHED, KEPT
from ..tools.types import Passage
from ..tools.web.ranking import relevance, words
from ..tools.web.settings import WebSettings
from ..tools.web.toolbox import WebTools
from .budget import Ledger
from .stages import PageVisit, Visit

DAY = 86_400.0


class Documents(Protocol):
    """An index in which whole documents take the place of what it held of them."""

    def replace(self, passages: Iterable[Passage]) -> object:
        """Add documents, each in the place of all passages of its source; blocking. Raises RunError."""
        ...


@dataclass(frozen=True, slots=True)
class Keeper:
    """Writes what was fetched into the index, so that the next asker finds it there until it expires.

    A kept page's source is its URL behind `web:`, so that it never takes the place of a document that was
    indexed under that URL.
    """

    index: Documents
    seconds: float
    clock: Callable[[], float] = time.time

    async def keep(self, passages: Sequence[Passage]) -> None:
        """Put the passages of one page in the place of what the index held of it. Raises RunError."""
        now = self.clock()
        known = {FETCHED: round(now), EXPIRES: round(now + self.seconds)}
        dated = [
            replace(passage, source=f"{KEPT}{passage.source}", metadata={**passage.metadata, **known})
            for passage in passages
        ]
        await asyncio.to_thread(self.index.replace, dated)


@dataclass(slots=True)
class WebEvidence:
    """The Web of one run. No page is fetched twice in a run, whether it could be had or not."""

    tools: WebTools
    settings: WebSettings
    ledger: Ledger
    keeper: Keeper | None = None
    _asked: set[str] = field(default_factory=set)

    async def gather(self, query: str) -> Visit:
        """See Web. Every page spends a fetch, also one that fails; a failure is in the visit's pages."""
        hits = await self.tools.search.search(query, self.settings.pages_per_visit + len(self._asked))
        most = min(self.settings.pages_per_visit, self.ledger.left("web_fetches"))
        pages = dict.fromkeys(hit.url.partition("#")[0] for hit in hits)
        urls = [url for url in pages if url not in self._asked][:most]
        self.ledger.spend("web_fetches", len(urls))
        self._asked.update(urls)
        turns = asyncio.Semaphore(self.settings.fetch.at_once)
        visited = await asyncio.gather(*(self._page(url, turns) for url in urls))
        found = list(chain.from_iterable(passages for passages, _ in visited))
        return Visit(self._best(query, found), tuple(visit for _, visit in visited))

    async def _page(self, url: str, turns: asyncio.Semaphore) -> tuple[list[Passage], PageVisit]:
        try:
            async with turns:
                page = await self.tools.fetcher.fetch(url)
                passages = await self.tools.extractor.extract(page)
        except (UsageError, BudgetExhausted):
            raise
        except Exception as error:  # parsers and servers raise anything; one page does not end the visit
            return [], PageVisit(url, 0, f"{type(error).__name__}: {error}")
        if not passages:
            return [], PageVisit(url, 0, "the page has no readable text")
        return passages, PageVisit(url, len(passages), await self._keep(passages))

    async def _keep(self, passages: Sequence[Passage]) -> str:
        """What kept the passages from being kept, "" if nothing did: the run has them all the same."""
        if self.keeper is None:
            return ""
        try:
            await self.keeper.keep(passages)
        except RunError as error:
            return f"not kept in the index: {type(error).__name__}: {error}"
        return ""

    def _best(self, query: str, found: Sequence[Passage]) -> tuple[Passage, ...]:
        scores = relevance(words(query), [words(f"{p.title} {p.text}") for p in found])
        scored = [replace(passage, score=score) for passage, score in zip(found, scores, strict=True)]
        # Sorting is stable: passages alike in score stay in the order of the hits and of their page.
        return tuple(sorted(scored, key=lambda p: -(p.score or 0.0)))[: self.settings.passages_per_visit]
