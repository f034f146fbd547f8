"""Stages of the loop that do what a test tells them to; every policy that only decides is the real one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scripted import ScriptedGenerator
from sufficit.controller.budget import Ledger
from sufficit.controller.loop import Controller, LoopSettings
from sufficit.controller.metering import MeteredGenerator
from sufficit.controller.settings import Settings
from sufficit.controller.stages import Stages, Visit, Web
from sufficit.controller.trace import VERSION, Started
from sufficit.controller.writing import ClosedBook, WithEvidence, opening_price
from sufficit.policies.action import ThresholdAction
from sufficit.policies.answering import PromptWriter
from sufficit.policies.probing import RolloutProbe
from sufficit.policies.pruning import build_pruner
from sufficit.policies.query import UncoveredWindows
from sufficit.policies.trustmargin import ScoredViews, TrustMargin
from sufficit.policies.types import ReaderScore, SufficiencyReport, WindowCoverage
from sufficit.tools.protocols import Generator, Retriever
from sufficit.tools.types import Passage


def passages(*texts: str) -> list[Passage]:
    return [Passage(id=str(n), text=text, source=f"doc{n}.md", title=f"T{n}") for n, text in enumerate(texts)]


@dataclass
class FixedSearch:
    """`found(query)` gives the passages, or raises; serves as retriever and as web."""

    found: Callable[[str], list[Passage]]
    queries: list[str] = field(default_factory=list)

    async def search(self, query: str, k: int) -> list[Passage]:
        self.queries.append(query)
        return self.found(query)[:k]

    async def gather(self, query: str) -> Visit:
        return Visit(tuple(await self.search(query, 100)))


@dataclass
class FixedSufficiency:
    """`of(passages)` gives the score, or raises; `windows` are reported as uncovered."""

    of: Callable[[Sequence[Passage]], float]
    windows: tuple[str, ...] = ()

    async def score(self, question: str, passages: Sequence[Passage]) -> SufficiencyReport:
        if not passages:
            return SufficiencyReport(None, 0.0, (), (), 0)
        score = self.of(passages)
        coverage = tuple(WindowCoverage(text, 0.0, 0.0) for text in self.windows)
        return SufficiencyReport(
            score, 0.0, (ReaderScore("content", score, 0.0, score),), coverage, len(passages)
        )


def controller(
    retriever: Retriever,
    sufficiency: FixedSufficiency,
    generator: Generator | None = None,
    settings: Settings | None = None,
    web: Web | Callable[[Ledger], Web] | None = None,
) -> Controller:
    settings = settings or Settings()
    price = opening_price(settings.generator.answer_tokens, settings.igp.max_tokens)

    def assemble(ledger: Ledger) -> Stages:
        metered = MeteredGenerator(generator or ScriptedGenerator(), ledger)
        prompts = PromptWriter(metered, settings.prompts)
        probe = RolloutProbe(metered, settings.igp)
        tokens = settings.generator.answer_tokens
        return Stages(
            opener=ClosedBook(metered, prompts, probe, tokens, price),
            retriever=retriever,
            web=web(ledger) if callable(web) else web,
            sufficiency=sufficiency,
            action=ThresholdAction(),
            query=UncoveredWindows(),
            pruner=build_pruner(probe, sufficiency, settings.igp),
            writer=WithEvidence(metered, prompts, tokens),
            arbiter=TrustMargin(ScoredViews(metered, settings.prompts), settings.trustmargin),
        )

    def started(question: str) -> Started:
        dumped = settings.model_dump(mode="json")
        return Started(version=VERSION, question=question, settings=dumped, models={}, web=web is not None)

    return Controller(assemble, LoopSettings.of(settings), started)
