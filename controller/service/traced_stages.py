"""The loop's stages as spans, and the run around them as one span of the operation `invoke_agent`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opentelemetry.trace import Span

from ...policies.types import (
    Arbiter,
    Pruner,
    PruneReport,
    Sufficiency,
    SufficiencyReport,
    Verdict,
)
from ...tools.protocols import Retriever
from ...tools.types import Generation, Passage
from ..answer import Answer
from ..budget import BudgetSettings
from ..stages import Opener, Stages, Visit, Web, Writer, Written
from ..trace import Event, Listener
from .service import Answers
from .spans import OPERATION, PROVIDER, Spans, Value
from .traced_models import INPUT_TOKENS, OUTPUT_TOKENS

AGENT = "sufficit"


@dataclass(frozen=True, slots=True)
class TracedAnswers:
    """Answers within a span that holds the decision and what it cost."""

    answers: Answers
    spans: Spans

    async def answer(
        self, question: str, listener: Listener | None = None, budget: BudgetSettings | None = None
    ) -> tuple[Answer, tuple[Event, ...]]:
        """As `Controller.answer`."""
        asked: dict[str, Value] = {OPERATION: "invoke_agent", PROVIDER: AGENT, "gen_ai.agent.name": AGENT}
        if self.spans.content:
            asked["sufficit.question"] = question
        with self.spans.span(f"invoke_agent {AGENT}", asked) as span:
            answer, events = await self.answers.answer(question, listener, budget)
            span.set_attributes(
                {
                    "sufficit.action": answer.action,
                    "sufficit.source": answer.source,
                    "sufficit.grounded": answer.grounded,
                    "sufficit.trace_id": answer.trace_id,
                    OUTPUT_TOKENS: int(answer.budget.spent["generated_tokens"]),
                }
            )
            if self.spans.content:
                span.set_attributes(
                    {"sufficit.answer": answer.answer or "", "sufficit.reason": answer.reason}
                )
            return answer, events


def traced(stages: Stages, spans: Spans, index: str) -> Stages:
    """The same stages, each a span; `index` names what is retrieved from."""
    return replace(
        stages,
        opener=_Opener(stages.opener, spans),
        retriever=_Retriever(stages.retriever, spans, index),
        web=None if stages.web is None else _Web(stages.web, spans),
        sufficiency=TracedSufficiency(stages.sufficiency, spans),
        pruner=_Pruner(stages.pruner, spans),
        writer=_Writer(stages.writer, spans),
        arbiter=_Arbiter(stages.arbiter, spans),
    )


@dataclass(frozen=True, slots=True)
class _Opener:
    opener: Opener
    spans: Spans

    @property
    def price(self) -> dict[str, int]:
        return self.opener.price

    async def open(self, question: str) -> tuple[Generation, float]:
        with self.spans.span("sufficit.open", {}) as span:
            direct, baseline = await self.opener.open(question)
            _wrote(span, direct)
            span.set_attribute("sufficit.uncertainty", baseline)
            return direct, baseline


@dataclass(frozen=True, slots=True)
class _Retriever:
    retriever: Retriever
    spans: Spans
    index: str

    async def search(self, query: str, k: int) -> list[Passage]:
        asked: dict[str, Value] = {OPERATION: "retrieval", "gen_ai.data_source.id": self.index}
        if self.spans.content:
            asked["gen_ai.retrieval.query.text"] = query
        with self.spans.span(f"retrieval {self.index}", asked) as span:
            found = await self.retriever.search(query, k)
            span.set_attribute("sufficit.passages", len(found))
            return found


@dataclass(frozen=True, slots=True)
class _Web:
    web: Web
    spans: Spans

    async def gather(self, query: str) -> Visit:
        asked: dict[str, Value] = {OPERATION: "execute_tool", "gen_ai.tool.name": "web"}
        if self.spans.content:
            asked["gen_ai.retrieval.query.text"] = query
        with self.spans.span("execute_tool web", asked) as span:
            visit = await self.web.gather(query)
            failed = sum(bool(page.fault) for page in visit.pages)
            span.set_attributes(
                {
                    "sufficit.passages": len(visit.passages),
                    "sufficit.pages": len(visit.pages),
                    "sufficit.pages_failed": failed,
                }
            )
            return visit


@dataclass(frozen=True, slots=True)
class TracedSufficiency:
    """RINSE, each pass a span."""

    sufficiency: Sufficiency
    spans: Spans

    async def score(self, question: str, passages: Sequence[Passage]) -> SufficiencyReport:
        """As `Sufficiency.score`."""
        with self.spans.span("sufficit.score", {"sufficit.passages": len(passages)}) as span:
            report = await self.sufficiency.score(question, passages)
            span.set_attributes(
                {"sufficit.threshold": report.threshold, "sufficit.sufficient": report.sufficient}
            )
            if report.score is not None:
                span.set_attribute("sufficit.score", report.score)
            return report


@dataclass(frozen=True, slots=True)
class _Pruner:
    pruner: Pruner
    spans: Spans

    async def prune(self, question: str, passages: Sequence[Passage], baseline: float) -> PruneReport:
        with self.spans.span("sufficit.prune", {"sufficit.passages": len(passages)}) as span:
            report = await self.pruner.prune(question, passages, baseline)
            span.set_attributes({"sufficit.admitted": len(report.admitted), "sufficit.method": report.method})
            return report


@dataclass(frozen=True, slots=True)
class _Writer:
    writer: Writer
    spans: Spans

    async def write(self, question: str, passages: Sequence[Passage]) -> Written:
        with self.spans.span("sufficit.write", {"sufficit.passages": len(passages)}) as span:
            written = await self.writer.write(question, passages)
            _wrote(span, written.rag)
            return written


@dataclass(frozen=True, slots=True)
class _Arbiter:
    arbiter: Arbiter
    spans: Spans

    async def choose(
        self, question: str, passages: Sequence[Passage], direct: Generation, rag: Generation
    ) -> Verdict:
        with self.spans.span("sufficit.arbitrate", {}) as span:
            verdict = await self.arbiter.choose(question, passages, direct, rag)
            span.set_attributes({"sufficit.source": verdict.source, "sufficit.tau": verdict.tau})
            if verdict.margin is not None:
                span.set_attribute("sufficit.margin", verdict.margin)
            return verdict


def _wrote(span: Span, generation: Generation) -> None:
    span.set_attributes({INPUT_TOKENS: generation.prompt_tokens, OUTPUT_TOKENS: len(generation.token_ids)})
