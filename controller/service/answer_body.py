"""The answer object as OpenAPI shows it: that of `ask --json`, every field with its meaning and unit."""

from typing import Literal

from pydantic import Field

from ...policies.types import Source
from .fields import Out, Real


class CitationBody(Out):
    """A passage that the answer rests on, and the sentence in it that carries the answer."""

    id: str = Field(description="the passage's id within its source")
    source: str = Field(description="the document that the passage was cut from")
    title: str = Field(description="the document's title, or empty")
    url: str | None = Field(description="where the document is, null if nowhere")
    text: str = Field(description="the sentence")
    start: int = Field(description="offset of the sentence in the passage, in characters", ge=0)
    end: int = Field(description="offset of its end in the passage, in characters", ge=0)


class EvidenceBody(Out):
    """A passage of the pool: whether it went into the prompt, and why or why not."""

    id: str = Field(description="the passage's id within its source")
    source: str = Field(description="the document that the passage was cut from")
    title: str = Field(description="the document's title, or empty")
    uncertainty: Real | None = Field(description="NU(q|d), in [0, 1]; null if not measured")
    information_gain: Real | None = Field(
        description="IG(d, q) = NU(q) - NU(q|d), in [-1, 1]; null if not measured"
    )
    rank: int | None = Field(
        description="its place among those that might go in, from 1; null if none were ranked", ge=1
    )
    admitted: bool = Field(description="whether it went into the prompt")
    reason: str = Field(description="why it is out, or not measured; empty if nothing needs explaining")


class PruningBody(Out):
    """What ranked the passages, and who else had a say."""

    method: str = Field(description="what ranked them", examples=["information gain"])
    baseline: Real = Field(description="NU(q), in [0, 1]")
    threshold: Real = Field(description="T_p: passages of a smaller gain stay out")
    control: str = Field(description="which gate took over and why; empty if none did")
    guard: str = Field(description="what the sufficiency guard found; empty if it is off")


class ReaderBody(Out):
    """One reader's part of the sufficiency score."""

    reader: str = Field(description="the reader's name", examples=["content"])
    raw: Real = Field(description="what the reader measured, in its own unit")
    size_correction: Real = Field(description="what a set of this size scores by its size alone")
    standardised: Real = Field(description="(raw - size_correction - mean) / standard deviation")


class WindowBody(Out):
    """How well the evidence covers one stretch of the question."""

    text: str = Field(description="the stretch")
    overlap: Real = Field(description="its best IDF-weighted overlap with one source, in [0, 1]")
    relevance: Real = Field(description="its best reranker score with one source")


class SufficiencyBody(Out):
    """RINSE's report on the evidence."""

    score: Real | None = Field(description="sum of the readers' standardised scores; null without evidence")
    threshold: Real = Field(description="the evidence suffices from this score on")
    readers: tuple[ReaderBody, ...] = Field(description="the readers that the score stands on")
    coverage: tuple[WindowBody, ...] = Field(description="the question, stretch by stretch")
    passages: int = Field(description="passages scored", ge=0)


class CandidatesBody(Out):
    """Both answers as they were written."""

    direct: str | None = Field(description="the closed-book answer; null if none was written")
    rag: str | None = Field(description="the answer from the evidence; null if none was written")


class MarginsBody(Out):
    """TrustMargin's margins; all null where the answers needed no scoring."""

    prior: Real | None = Field(description="M_prior, in nats a token")
    binding: Real | None = Field(description="M_bind, in nats a token")
    margin: Real | None = Field(description="M = M_prior + weight * M_bind, in nats a token")
    weight: Real = Field(description="lambda")
    tau: Real = Field(description="the answer from the evidence is trusted above this margin")
    tie: bool = Field(description="whether the margin is within the noise of the backend")


class BudgetBody(Out):
    """What the question cost, by limit; `seconds` is wall-clock time, all others are counts."""

    spent: dict[str, Real] = Field(description="spent of each limit")
    left: dict[str, Real] = Field(description="left of each limit")


class AnswerBody(Out):
    """How a question ended: in an answer, or in an abstention with its reason."""

    action: Literal["answer", "abstain"] = Field(description="how the question ended")
    answer: str | None = Field(description="the answer; null on abstention")
    source: Source = Field(
        description="the answer that was trusted: closed-book, from evidence, both the same, or none"
    )
    grounded: bool = Field(description="false for an answer that rests on no evidence")
    reason: str = Field(description="why it ended so")
    citations: tuple[CitationBody, ...] = Field(description="what a grounded answer rests on")
    sufficiency: SufficiencyBody | None = Field(
        description="null if the run ended before evidence was scored"
    )
    evidence: tuple[EvidenceBody, ...] = Field(description="the pool, those admitted first")
    pruning: PruningBody | None = Field(description="null if passages were not pruned")
    candidates: CandidatesBody = Field(description="both answers as they were written")
    margins: MarginsBody | None = Field(description="null if the answers were not compared")
    budget: BudgetBody = Field(description="what the question cost")
    trace_id: str = Field(description="hash of the question, the settings and the models")
    timings: dict[str, Real] = Field(description="seconds by stage, and `total`")
