"""Information Gain Pruning: which passages go into the prompt (IGP, sections 3.2 to 3.4).

Symbols of the paper, Table 1:

- q: the question; d: one candidate passage; N: how many candidates there are.
- T: steps of a greedy rollout, until the end-of-sequence token (counted) or MT, whichever is first (eq. 1).
- K: how many of a step's most probable tokens are looked at; p~: their probabilities renormalised to 1.
- H~_t: entropy of p~ at step t; u~_t = H~_t / log K, in [0, 1].
- NU(q), NU(q|d): mean of u~_t over a rollout without and with the passage.
- IG(d, q) = NU(q) - NU(q|d): how much more certain the passage makes the generator.
- T_p: the threshold of admission; M: passages kept at most; B: tokens kept at most.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..tools.errors import ModelOutputError
from ..tools.types import Passage, PassageKey
from .probe_prompts import ProbePrompts
from .types import Candidate, PassageGain, PruneReport

# --- equations (2) to (7) --------------------------------------------------------------------------------


def step_entropy(logprobs: Sequence[float]) -> float:
    """H~_t in nats, from the natural-log probabilities of the top-K tokens of one step: eqs. (2) and (3).

    Entries of -inf are left out; a step with one entry or none has entropy 0. Raises ModelOutputError for
    NaN and +inf.
    """
    if any(math.isnan(value) or value == math.inf for value in logprobs):
        raise ModelOutputError("the generator returned NaN or infinite log-probabilities; check its dtype")
    finite = [value for value in logprobs if value > -math.inf]
    if len(finite) < 2:
        return 0.0
    peak = max(finite)
    weights = [math.exp(value - peak) for value in finite]
    total = sum(weights)
    # -sum p~ log p~ with log p~ = (value - peak) - log total.
    return math.log(total) - sum(w * (v - peak) for w, v in zip(weights, finite, strict=True)) / total


def step_uncertainties(steps: Sequence[Sequence[float]], top_k: int) -> tuple[float, ...]:
    """u~_t in [0, 1] of every observed step of one rollout: eq. (4).

    `steps[t]` holds the natural-log probabilities of step t; where there are more than `top_k`, the largest
    count. Steps without any finite entry were not observed and are left out, so the length is T. The paper
    leaves K = 1 open: nothing is left to be uncertain about, every u~_t is 0.
    """
    observed = [step for step in steps if any(value != -math.inf for value in step)]
    if top_k == 1:
        return (0.0,) * len(observed)
    scale = math.log(top_k)
    # Rounding may put the entropy of equal probabilities a hair above log K.
    return tuple(min(step_entropy(sorted(step, reverse=True)[:top_k]) / scale, 1.0) for step in observed)


def mean_uncertainty(uncertainties: Sequence[float], horizon: int | None = None) -> float:
    """NU in [0, 1] of one rollout: eqs. (5) and (6), over its first `horizon` steps if that is given.

    The paper leaves a rollout without an observed step open: nothing is known of it (1.0).
    """
    counted = uncertainties[:horizon]
    return sum(counted) / len(counted) if counted else 1.0


def normalised_uncertainty(steps: Sequence[Sequence[float]], top_k: int) -> float:
    """NU in [0, 1] of one rollout from its top-K log-probabilities: eqs. (4) to (6)."""
    return mean_uncertainty(step_uncertainties(steps, top_k))


def information_gain(baseline: float, uncertainty: float) -> float:
    """IG(d, q) in [-1, 1]: eq. (7)."""
    return baseline - uncertainty


# --- admission (section 3.4) -----------------------------------------------------------------------------


class GateSettings(BaseModel):
    """When pruning is left alone (section 5.2); a bound of none is not looked at.

    The pass rate is the share of measured candidates with IG >= T_p, each alone. Outside its bounds, and
    under the least NU(q), `fallback` decides: `relevance` takes the retriever's order, `rerank` the order of
    gain without T_p. What was never probed, because NU(q) is low, goes in retriever's order.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_uncertainty: float | None = Field(default=None, ge=0, le=1, description="least NU(q) that is pruned")
    min_pass_rate: float | None = Field(default=None, ge=0, le=1, description="least share admitted by T_p")
    max_pass_rate: float | None = Field(default=None, ge=0, le=1, description="largest share admitted by T_p")
    fallback: Literal["relevance", "rerank"] = "relevance"

    @model_validator(mode="after")
    def _bounds_are_in_order(self) -> Self:
        least, most = self.min_pass_rate, self.max_pass_rate
        if least is not None and most is not None and least > most:
            raise ValueError(f"min_pass_rate = {least:g} is above max_pass_rate = {most:g}: no rate passes")
        return self


class IGPSettings(BaseModel):
    """K, MT, T_p, M and B of the paper, with its defaults, the probing prompts, and what goes beyond it.

    A `threshold` of -inf (in JSON and in the environment the string "-inf") reranks without pruning.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")

    method: Literal["information_gain", "retriever"] = Field(
        default="information_gain", description="what ranks; retriever keeps its order and measures nothing"
    )
    top_k: int = Field(default=128, ge=1, description="K")
    max_tokens: int = Field(default=32, ge=1, description="MT")
    threshold: float = Field(default=0.05, ge=-math.inf, le=1.0, description="T_p; -inf only reranks")
    top_m: int | None = Field(default=5, ge=1, description="M, passages at most; none for no limit")
    token_budget: int | None = Field(default=None, ge=1, description="B, tokens at most; none for no limit")
    common_horizon: bool = Field(default=False, description="compare rollouts over min(T, T_d) steps only")
    near_duplicate: float | None = Field(
        default=0.9, gt=0, le=1, description="shared word triples that make a duplicate; none for off"
    )
    set_aware: bool = Field(default=False, description="score each passage given those admitted before")
    set_threshold: float = Field(
        default=0.0, ge=-1.0, le=1.0, description="T_p from the second passage on, where set-aware"
    )
    guard: bool = Field(default=True, description="stop pruning before the evidence stops sufficing")
    guard_checks: int = Field(default=12, ge=1, description="evidence sets that the guard scores at most")
    gates: GateSettings = GateSettings()
    prompts: ProbePrompts = ProbePrompts()


def admit(baseline: float, candidates: Sequence[Candidate], settings: IGPSettings) -> PruneReport:
    """Sort by IG, keep IG >= T_p, truncate to M passages and B tokens; `baseline` is NU(q).

    Equal gains keep the order in which they came, the retriever's. Passages that fit no prompt come last,
    without a gain. An empty result is legal: without candidates, or where no gain reaches T_p. One candidate
    is treated like several. Raises ModelOutputError where an uncertainty is not finite.
    """
    judged = [judge(candidate, baseline, settings.threshold) for candidate in candidates]
    return report_on(ranked(judged), baseline, settings)


def judge(candidate: Candidate, baseline: float, threshold: float) -> PassageGain:
    """IG of one candidate, not ranked yet, and what speaks against it: its length, or `threshold`."""
    key, nu, tokens = candidate.key, candidate.uncertainty, candidate.tokens
    if nu is None:
        reason = f"{tokens} tokens do not fit the model's context"
        return PassageGain(key, None, None, 0, tokens, False, reason, barred=True)
    reference = baseline if candidate.baseline is None else candidate.baseline
    gain = information_gain(reference, nu)
    if not math.isfinite(gain):
        raise ModelOutputError(
            "an uncertainty is not a finite number; the generator's probabilities are broken"
        )
    reason = "" if gain >= threshold else _too_low(gain, threshold)
    return PassageGain(key, nu, gain, 0, tokens, not reason, reason, baseline=candidate.baseline)


def _too_low(gain: float, threshold: float) -> str:
    """With as many digits as tell the two apart."""
    digits = next((count for count in range(3, 17) if round(gain, count) < threshold), 17)
    return f"gain {gain:.{digits}f} is under the threshold {threshold:g}"


def ranked(judged: Sequence[PassageGain]) -> list[PassageGain]:
    """By gain, descending, ties as they came; those without a gain last."""
    return sorted(judged, key=lambda found: math.inf if found.gain is None else -found.gain)


def report_on(gains: Sequence[PassageGain], baseline: float, settings: IGPSettings) -> PruneReport:
    """Truncate `gains`, which are in the order in which they may go in, and number them.

    Those marked as admitted go in until M passages are in; one that does not fit into what is left of B stays
    out, and a shorter one after it may still enter.
    """
    placed: list[PassageGain] = []
    admitted: list[PassageKey] = []
    tokens_used = 0
    for rank, gain in enumerate(gains, start=1):
        reason = _no_room(gain.tokens, len(admitted), tokens_used, settings) if gain.admitted else ""
        enters = gain.admitted and not reason
        if enters:
            admitted.append(gain.key)
            tokens_used += gain.tokens
        placed.append(replace(gain, rank=rank, admitted=enters, reason=reason or gain.reason))
    return PruneReport(
        tuple(admitted), baseline, tuple(placed), settings.top_k, settings.max_tokens, settings.threshold
    )


def _no_room(tokens: int, admitted: int, tokens_used: int, settings: IGPSettings) -> str:
    """Why a passage no longer has room, "" if it has."""
    if settings.top_m is not None and admitted >= settings.top_m:
        several = f"{settings.top_m} passages that rank higher were admitted"
        return several if settings.top_m > 1 else "one passage that ranks higher was admitted"
    budget = settings.token_budget
    if budget is not None and tokens_used + tokens > budget:
        return f"{tokens} tokens do not fit the {budget - tokens_used} left of {budget}"
    return ""


# --- the pruner ------------------------------------------------------------------------------------------


class Probe(Protocol):
    """Measures passages; a generator does it, or a recorded run."""

    async def uncertainties(
        self, question: str, passages: Sequence[Passage], given: Sequence[Passage] = ()
    ) -> tuple[Candidate, ...]:
        """NU(q|d) of every passage, in the order in which they came; each after `given` in the prompt."""
        ...

    def tokens(self, passage: Passage) -> int:
        """Length of a passage in the prompt; no model is asked."""
        ...


class IGP:
    """Pruner by information gain: probe, then admit."""

    def __init__(self, probe: Probe, settings: IGPSettings) -> None:
        self._probe = probe
        self._settings = settings

    async def prune(self, question: str, passages: Sequence[Passage], baseline: float) -> PruneReport:
        """Admit passages whose gain over `baseline`, NU(q), reaches T_p, within M and B."""
        candidates = await self._probe.uncertainties(question, passages)
        return admit(baseline, candidates, self._settings)
