"""TrustMargin: which of two finished answers is to be trusted (TrustMargin, section 3 and Appendix D).

Symbols: y_D, the answer from the question alone; y_R, the answer that read the passages P; l_D, l_R, l_C, the
mean token log-likelihood of an answer given the question, the question and P, and P alone (section 3.2).

    M_prior  = l_D(y_R) - l_D(y_D)                   does memory accept the retrieved answer?   (section 3.3)
    Delta(y) = l_R(y) - l_C(y)                       is an answer bound to the question, or only salient in P?
    M_bind   = Delta(y_R) - Delta(y_D)                                                          (section 3.4)
    M        = M_prior + lambda M_bind               RAG wins iff M > tau, strictly              (section 3.5)
"""

import asyncio
import math
from collections.abc import Sequence
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from ..tools.errors import CapabilityError, ModelOutputError
from ..tools.normalisation import is_blank, normalise_answer
from ..tools.protocols import Generator
from ..tools.types import Generation, Passage, Prompt
from .answering import AnswerPrompts, PromptWriter
from .quoting import quote
from .types import Likelihoods, Source, Verdict


class TrustMarginSettings(BaseModel):
    """lambda and tau as published, and the width within which a decision is marked as a tie."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    weight: float = Field(default=0.5, ge=0.0, description="lambda, weight of the binding margin")
    tau: float = Field(default=-1.5, description="threshold on M, in nats per token")
    tie_band: float = Field(default=1e-3, ge=0.0, description="|M - tau| that batching noise can bridge")
    always: Literal["direct", "rag"] | None = Field(
        default=None,
        description="answer trusted without scoring, unless it is empty; none lets M decide",
    )


def prior_margin(views: Likelihoods) -> float:
    """M_prior in nats per token."""
    return views.question_rag - views.question_direct


def binding_margin(views: Likelihoods) -> float:
    """M_bind in nats per token."""
    return (views.both_rag - views.context_rag) - (views.both_direct - views.context_direct)


def trust_margin(views: Likelihoods, weight: float) -> float:
    """M in nats per token."""
    return prior_margin(views) + weight * binding_margin(views)


def same_answer(one: str, other: str) -> bool:
    """Whether two answers are equal after SQuAD normalisation; where it leaves nothing, by their letters."""
    normalised = normalise_answer(one), normalise_answer(other)
    return normalised[0] == normalised[1] if any(normalised) else one.casefold() == other.casefold()


def verdict_without_scoring(
    passages: Sequence[Passage], direct: str, rag: str, settings: TrustMarginSettings
) -> Verdict | None:
    """The verdict where no likelihood is needed, None where the margins must decide."""
    without_scores: tuple[Source, str, str] | None = None
    if is_blank(direct) and is_blank(rag):
        without_scores = "none", "", "Neither answer says anything."
    elif is_blank(rag):
        without_scores = "direct", direct, "The RAG answer is empty."
    elif is_blank(direct):
        without_scores = "rag", rag, "The closed-book answer is empty."
    elif not passages:
        without_scores = "agree", direct, "There was no evidence: the RAG answer is the closed-book answer."
    elif same_answer(direct, rag):
        # The RAG answer's wording: it is the one that citations belong to.
        without_scores = "agree", rag, "Both answers are the same."
    elif settings.always is not None:
        chosen = rag if settings.always == "rag" else direct
        without_scores = settings.always, chosen, f"The settings always trust the {settings.always} answer."
    if without_scores is None:
        return None
    return Verdict(*without_scores, None, None, None, None, settings.weight, settings.tau, tie=False)


def verdict_by_margin(views: Likelihoods, direct: str, rag: str, settings: TrustMarginSettings) -> Verdict:
    """RAG iff M > tau, strictly."""
    prior, binding, margin = prior_margin(views), binding_margin(views), trust_margin(views, settings.weight)
    if not math.isfinite(margin):
        raise ModelOutputError(
            "a likelihood is not a finite number; the generator's probabilities are broken"
        )
    rag_wins = margin > settings.tau
    reason = (
        f"Margin {margin:.2f} is above {settings.tau:g}: the retrieved answer is trusted."
        if rag_wins
        else f"Margin {margin:.2f} is not above {settings.tau:g}: the closed-book answer is kept."
    )
    return Verdict(
        "rag" if rag_wins else "direct",
        rag if rag_wins else direct,
        reason,
        views,
        prior,
        binding,
        margin,
        settings.weight,
        settings.tau,
        tie=abs(margin - settings.tau) <= settings.tie_band,
    )


class Views(Protocol):
    """Measures the six likelihoods; a generator does it, or a recorded run."""

    async def likelihoods(
        self, question: str, passages: Sequence[Passage], direct: Generation, rag: Generation
    ) -> Likelihoods:
        """Mean token log-likelihoods of both answers, neither of them empty, under the three views."""
        ...


class ScoredViews:
    """Teacher-forced scoring of both answers by a generator (Appendix D.5), one call a view.

    Raises CapabilityError at construction if the generator cannot score a given continuation.
    """

    def __init__(self, generator: Generator, prompts: AnswerPrompts) -> None:
        capabilities = generator.capabilities
        if not capabilities.scores_prompts:
            why = f": {capabilities.why_no_scores}" if capabilities.why_no_scores else ""
            raise CapabilityError(
                f"{capabilities.model} cannot score given answers, which TrustMargin needs{why}"
            )
        self._generator = generator
        self._writer = PromptWriter(generator, prompts)

    async def likelihoods(
        self, question: str, passages: Sequence[Passage], direct: Generation, rag: Generation
    ) -> Likelihoods:
        """See Views. Raises ModelOutputError where a log-probability is not finite.

        A control token in an answer, which only one from elsewhere can hold, is scored as a text.
        """
        answers = self._plain(direct.text), self._plain(rag.text)
        d, r, c = await asyncio.gather(
            self._means(self._writer.question_only(question), answers),
            self._means(self._writer.question_context(question, passages), answers),
            self._means(self._writer.context_only(passages), answers),
        )
        return Likelihoods(*d, *r, *c)

    def _plain(self, answer: str) -> str:
        """The answer without control tokens; as it is, to the last space, where it holds none."""
        tokens = self._generator.capabilities.control_tokens
        return quote(answer, tokens) if any(token in answer for token in tokens) else answer

    async def _means(self, prompt: Prompt, answers: tuple[str, str]) -> tuple[float, float]:
        scored = await self._generator.score(prompt, [prompt.lead + answer for answer in answers])
        direct, rag = map(_mean, scored)
        return direct, rag


def _mean(logprobs: tuple[float, ...]) -> float:
    """Length-normalised log-likelihood of an answer that is not empty."""
    mean = sum(logprobs) / len(logprobs) if logprobs else math.nan
    if not math.isfinite(mean):
        raise ModelOutputError(
            "the generator gave an answer no finite log-likelihood; check the model's weights and dtype"
        )
    return mean


class TrustMargin:
    """Arbiter by the two margins."""

    def __init__(self, views: Views, settings: TrustMarginSettings) -> None:
        self._views = views
        self._settings = settings

    async def choose(
        self, question: str, passages: Sequence[Passage], direct: Generation, rag: Generation
    ) -> Verdict:
        """Agreeing and empty answers need no scoring; otherwise the margins decide.

        `passages` are those that `rag` read.
        """
        verdict = verdict_without_scoring(passages, direct.text, rag.text, self._settings)
        if verdict is not None:
            return verdict
        views = await self._views.likelihoods(question, passages, direct, rag)
        return verdict_by_margin(views, direct.text, rag.text, self._settings)
