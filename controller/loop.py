"""The loop: retrieve, decide, prune, generate twice, arbitrate.

Every stage appends one event to the run's trace, also when it fails: a fault is a recorded step without
evidence, and a spent budget ends the run in an answer or an abstention that names it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..policies.abstention import ClosedBookRule
from ..policies.types import Decision, LoopState, SufficiencyReport
from ..tools.errors import BudgetExhausted, UsageError
from ..tools.types import Generation, Passage
from .answer import Answer
from .budget import BudgetSettings, Ledger
from .outcome import Outcome, conclude
from .pool import Pool
from .question import checked_question
from .recording import Recorder
from .settings import Settings
from .stages import Assemble, PageVisit, Stages, Visit
from .trace import (
    Arbitrated,
    Decided,
    Event,
    Listener,
    Opened,
    Origin,
    Pruned,
    Retrieved,
    Scored,
    Stage,
    Started,
    Wrote,
)

T = TypeVar("T")

NOTHING = Generation(text="", token_ids=(), logprobs=(), finish="stop", prompt_tokens=0)
"""Stands for an answer that could not be written."""


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """How a run goes, beside the policies' own settings.

    `unpruned` is how many passages go in, in retrieval order, when pruning is not possible: M holds, and
    `prompts.context_tokens`, but not B, for what would count the tokens may be what has failed.
    """

    budget: BudgetSettings
    closed_book: ClosedBookRule
    passages_per_round: int
    question_characters: int
    unpruned: int

    @classmethod
    def of(cls, settings: Settings) -> "LoopSettings":
        """The part of all settings that the loop itself obeys."""
        per_round = settings.index.passages_per_round
        return cls(
            budget=settings.budget,
            closed_book=ClosedBookRule(settings.abstention),
            passages_per_round=per_round,
            question_characters=settings.question_characters,
            unpruned=settings.igp.top_m or per_round,
        )


class Controller:
    """Answers questions. Holds nothing of any run, so many can go on at once."""

    def __init__(self, assemble: Assemble, settings: LoopSettings, started: Callable[[str], Started]) -> None:
        self._assemble = assemble
        self._settings = settings
        self._started = started

    async def answer(
        self, question: str, listener: Listener | None = None, budget: BudgetSettings | None = None
    ) -> tuple[Answer, tuple[Event, ...]]:
        """Answer `question` or abstain with a reason; returns the answer and the run's trace.

        `listener` gets every event as it happens; `budget` stands in for that of the settings, in the trace
        too. Raises InputError for an empty or overlong question, and other UsageErrors where the setup cannot
        work; whatever fails during a run is in its trace instead.
        """
        question = checked_question(question, self._settings.question_characters)
        settings, started = self._settings, self._started(question)
        if budget is not None:
            settings = replace(settings, budget=budget)
            dumped = {**started.settings, "budget": budget.model_dump(mode="json")}
            started = replace(started, settings=dumped)
        ledger = Ledger(settings.budget)
        recorder = Recorder(started, ledger, listener)
        run = _Run(self._assemble, settings, ledger, recorder, Outcome(question))
        try:
            async with asyncio.timeout(ledger.seconds_left):
                await run.go()
        except BudgetExhausted as spent:
            run.stop(spent)
        except TimeoutError:
            run.stop(BudgetExhausted("seconds", settings.budget.seconds))
        return conclude(run.outcome, self._settings.closed_book, ledger, recorder), recorder.events


@dataclass(slots=True)
class _Run:
    """One question on its way through the stages."""

    assemble: Assemble
    settings: LoopSettings
    ledger: Ledger
    recorder: Recorder
    outcome: Outcome
    pool: Pool = field(init=False)

    def __post_init__(self) -> None:
        self.pool = Pool(self.settings.budget.passages)

    async def go(self) -> None:
        """Retrieve and decide; then prune, write and arbitrate."""
        stages = self.assemble(self.ledger)
        async with self._opened(stages) as settle:
            decision = await self._gather(stages)
            await settle()
        if decision.action == "answer":
            await self._prune(stages)
            await self._write(stages)
            await self._arbitrate(stages)

    def stop(self, spent: BudgetExhausted) -> None:
        """A limit ended the run where it stands."""
        self.outcome.stopped_by = spent
        self.recorder.stopped(spent)

    # --- beside retrieval: what needs no passage ----------------------------------------------------------

    @asynccontextmanager
    async def _opened(self, stages: Stages) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """Start the closed-book answer and NU(q) at once, from a purse of their own; yields how to settle."""
        price = stages.opener.price
        with self.recorder.stage("open"):
            purse = self.ledger.purse(price)
            opener = self.assemble(purse).opener
            work = self.recorder.timed("opening", lambda: opener.open(self.outcome.question))
            task = asyncio.create_task(work)

        async def settle() -> None:
            opened = await self._attempt("open", task, purse)
            self.ledger.take_back(purse, price)
            if opened is not None:
                self.outcome.direct, self.outcome.baseline = opened
                self.recorder.append(Opened(direct=opened[0], baseline=opened[1]))

        try:
            yield settle
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    # --- retrieve and decide ------------------------------------------------------------------------------

    async def _gather(self, stages: Stages) -> Decision:
        """Rounds of retrieval until the evidence suffices or there is nothing left to try.

        Bounded: every turn spends a round, or asks the web something it was not asked before.
        """
        asked, asked_web = [self.outcome.question], list[str]()
        new = await self._retrieve(stages, self.outcome.question)
        while True:
            report = await self._score(stages)
            decision = self._decide(stages, report, new, asked, asked_web)
            query = decision.query or self.outcome.question
            if decision.action == "retrieve_more":
                asked.append(query)
                new = await self._retrieve(stages, query)
            elif decision.action == "fetch_web":
                asked_web.append(query)
                new = await self._fetch(stages, query)
            else:
                return decision

    async def _retrieve(self, stages: Stages, query: str) -> int:
        """One round over the index; returns how many passages were new."""
        self.ledger.spend("rounds")
        found = await self._attempt(
            "retrieve", stages.retriever.search(query, self.settings.passages_per_round)
        )
        return self._take(found or [], query, "index")

    async def _fetch(self, stages: Stages, query: str) -> int:
        """One visit to the web; returns how many passages were new."""
        if stages.web is None:
            return 0
        visit = await self._attempt("web", stages.web.gather(query)) or Visit(())
        return self._take(visit.passages, query, "web", visit.pages)

    def _take(
        self, found: Sequence[Passage], query: str, origin: Origin, pages: tuple[PageVisit, ...] = ()
    ) -> int:
        new = self.pool.add(found)
        self.outcome.pool = self.pool.passages
        self.ledger.spend("passages", len(new))
        self.recorder.append(
            Retrieved(origin=origin, query=query, passages=tuple(found), new=new, pages=pages)
        )
        return len(new)

    async def _score(self, stages: Stages) -> SufficiencyReport:
        pool = self.pool.passages
        report = await self._attempt("score", stages.sufficiency.score(self.outcome.question, pool))
        if report is None:
            # Without evidence no model is asked: the report only names the threshold.
            report = await stages.sufficiency.score(self.outcome.question, ())
        self.outcome.report = report
        self.recorder.append(Scored(report=report))
        return report

    def _decide(
        self, stages: Stages, report: SufficiencyReport, new: int, asked: list[str], asked_web: list[str]
    ) -> Decision:
        room = self.ledger.left("passages") > 0
        next_query = stages.query.next(self.outcome.question, report, asked)
        web_query = next_query or self.outcome.question
        web = stages.web is not None and room and web_query not in asked_web
        state = LoopState(
            rounds_left=self.ledger.left("rounds") if room else 0,
            web_fetches_left=self.ledger.left("web_fetches") if web else 0,
            next_query=next_query,
            new_passages=new,
            left={name: self.ledger.left(name) for name in self.ledger.spent()},
        )
        decision = stages.action.decide(report, state)
        self.outcome.decision = decision
        self.recorder.append(Decided(decision=decision))
        return decision

    # --- prune, write, arbitrate --------------------------------------------------------------------------

    async def _prune(self, stages: Stages) -> None:
        """Admit passages; where that fails, the first few in retrieval order stand in."""
        outcome, report = self.outcome, None
        if outcome.baseline is not None:
            work = stages.pruner.prune(outcome.question, outcome.pool, outcome.baseline)
            report = await self._attempt("prune", work)
        if report is None:
            outcome.admitted = outcome.pool[: self.settings.unpruned]
            return
        by_key = {passage.key: passage for passage in outcome.pool}
        outcome.prune = report
        outcome.admitted = tuple(by_key[key] for key in report.admitted)
        self.recorder.append(Pruned(report=report))

    async def _write(self, stages: Stages) -> None:
        """The RAG answer; without evidence it is the closed-book answer (IGP section 3.4)."""
        outcome = self.outcome
        if outcome.admitted:
            work = stages.writer.write(outcome.question, outcome.admitted)
            written = await self._attempt("write", work)
            if written is not None:
                outcome.rag = written.rag
                outcome.read = tuple(p for p in outcome.admitted if p.key in written.read)
                self.recorder.append(Wrote(rag=written.rag, read=written.read))
        else:
            outcome.rag = outcome.direct

    async def _arbitrate(self, stages: Stages) -> None:
        """Choose; an answer that could not be written counts as empty."""
        outcome = self.outcome
        direct, rag = outcome.direct or NOTHING, outcome.rag or NOTHING
        work = stages.arbiter.choose(outcome.question, outcome.read, direct, rag)
        outcome.verdict = await self._attempt("arbitrate", work)
        if outcome.verdict is not None:
            self.recorder.append(Arbitrated(verdict=outcome.verdict))

    async def _attempt(self, stage: Stage, work: Awaitable[T], purse: Ledger | None = None) -> T | None:
        """Await a stage's work; a fault of a tool is recorded and gives None.

        Errors of use and spent budgets are not faults and pass through.
        """
        try:
            with self.recorder.stage(stage, purse):
                return await work
        except (UsageError, BudgetExhausted):
            raise
        except Exception as error:
            self.recorder.fault(error)
            return None
