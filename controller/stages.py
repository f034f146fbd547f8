"""What the loop needs for one run, one protocol a stage, so that a replay can stand in for all of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..policies.types import ActionPolicy, Arbiter, Pruner, QueryPolicy, Sufficiency
from ..tools.protocols import Retriever
from ..tools.types import Generation, Passage, PassageKey
from .budget import Ledger


class Opener(Protocol):
    """What can be known before any passage is there."""

    @property
    def price(self) -> dict[str, int]:
        """The most that `open` can cost, by limit."""
        ...

    async def open(self, question: str) -> tuple[Generation, float]:
        """The closed-book answer, and NU(q) in [0, 1]."""
        ...


@dataclass(frozen=True, slots=True)
class Written:
    """The RAG answer, and the passages that its prompt had room for, in prompt order."""

    rag: Generation
    read: tuple[PassageKey, ...]


class Writer(Protocol):
    """The generator with its evidence."""

    async def write(self, question: str, passages: Sequence[Passage]) -> Written:
        """The RAG answer from at least one passage."""
        ...


@dataclass(frozen=True, slots=True)
class PageVisit:
    """One page: how many passages it gave, and what went wrong with it, "" if nothing did."""

    url: str
    passages: int
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Visit:
    """What one visit to the web brought: passages, best first, and every page that was fetched for them."""

    passages: tuple[Passage, ...]
    pages: tuple[PageVisit, ...] = ()


class Web(Protocol):
    """Search, fetch and extract, within the ledger's fetches."""

    async def gather(self, query: str) -> Visit:
        """Evidence from the web; raises ToolError where nothing could be found to fetch."""
        ...


@dataclass(frozen=True, slots=True)
class Stages:
    """Tools and policies of one run; those that cost charge the ledger they were built with."""

    opener: Opener
    retriever: Retriever
    web: Web | None
    sufficiency: Sufficiency
    action: ActionPolicy
    query: QueryPolicy
    pruner: Pruner
    writer: Writer
    arbiter: Arbiter


Assemble = Callable[[Ledger], Stages]
"""Builds the stages of one run over the ledger that pays for it."""
