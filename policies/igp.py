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
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from ..tools.errors import ModelOutputError
from ..tools.types import Passage, PassageKey
from .probe_prompts import ProbePrompts
from .types import PassageGain, PruneReport

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


def normalised_uncertainty(steps: Sequence[Sequence[float]], top_k: int) -> float:
    """NU in [0, 1] of one rollout: eqs. (4) to (6).

    `steps[t]` holds the natural-log probabilities of step t; where there are more than `top_k`, the largest
    count. Steps without any finite entry were not observed and do not count in T. Two cases the paper leaves
    open: K = 1 leaves nothing to be uncertain about (0.0); without an observed step nothing is known (1.0).
    """
    observed = [step for step in steps if any(value != -math.inf for value in step)]
    if not observed:
        return 1.0
    if top_k == 1:
        return 0.0
    entropies = [step_entropy(sorted(step, reverse=True)[:top_k]) for step in observed]
    # Rounding may put the entropy of equal probabilities a hair above log K.
    return min(sum(entropies) / (len(entropies) * math.log(top_k)), 1.0)


def information_gain(baseline: float, uncertainty: float) -> float:
    """IG(d, q) in [-1, 1]: eq. (7)."""
    return baseline - uncertainty


# --- admission (section 3.4) -----------------------------------------------------------------------------


class IGPSettings(BaseModel):
    """K, MT, T_p, M and B of the paper, with its defaults, and the probing prompts.

    A `threshold` of -inf (in JSON and in the environment the string "-inf") reranks without pruning.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")

    top_k: int = Field(default=128, ge=1, description="K")
    max_tokens: int = Field(default=32, ge=1, description="MT")
    threshold: float = Field(default=0.05, ge=-math.inf, le=1.0, description="T_p; -inf only reranks")
    top_m: int | None = Field(default=5, ge=1, description="M, passages at most; none for no limit")
    token_budget: int | None = Field(default=None, ge=1, description="B, tokens at most; none for no limit")
    prompts: ProbePrompts = ProbePrompts()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate as probed: NU(q|d), None if it fits no prompt, and its length in the prompt in tokens."""

    key: PassageKey
    uncertainty: float | None
    tokens: int


def admit(baseline: float, candidates: Sequence[Candidate], settings: IGPSettings) -> PruneReport:
    """Sort by IG, keep IG >= T_p, truncate to M passages and B tokens; `baseline` is NU(q).

    Equal gains keep the order in which they came, the retriever's. Passages that fit no prompt come last;
    their uncertainty is reported as 1, since nothing was learnt from them. A passage that does not fit into
    what is left of B stays out, and a shorter one after it may still enter. An empty result is legal. Raises
    ModelOutputError where an uncertainty is not finite.
    """
    if not all(math.isfinite(nu) for nu in (baseline, *_measured(candidates))):
        raise ModelOutputError(
            "an uncertainty is not a finite number; the generator's probabilities are broken"
        )
    ranked = sorted(candidates, key=lambda c: (c.uncertainty is None, -information_gain(baseline, _nu(c))))
    gains: list[PassageGain] = []
    admitted: list[PassageKey] = []
    tokens_used = 0
    for rank, candidate in enumerate(ranked, start=1):
        reason = _reason_against(candidate, baseline, len(admitted), tokens_used, settings)
        if not reason:
            admitted.append(candidate.key)
            tokens_used += candidate.tokens
        nu, gain = _nu(candidate), information_gain(baseline, _nu(candidate))
        gains.append(PassageGain(candidate.key, nu, gain, rank, candidate.tokens, not reason, reason))
    return PruneReport(
        tuple(admitted), baseline, tuple(gains), settings.top_k, settings.max_tokens, settings.threshold
    )


def _measured(candidates: Sequence[Candidate]) -> list[float]:
    return [c.uncertainty for c in candidates if c.uncertainty is not None]


def _nu(candidate: Candidate) -> float:
    return 1.0 if candidate.uncertainty is None else candidate.uncertainty


def _reason_against(
    candidate: Candidate, baseline: float, admitted: int, tokens_used: int, settings: IGPSettings
) -> str:
    """Why a candidate stays out, "" if it enters."""
    if candidate.uncertainty is None:
        return f"{candidate.tokens} tokens do not fit the model's context"
    gain = information_gain(baseline, candidate.uncertainty)
    if gain < settings.threshold:
        return f"gain {gain:.3f} is under the threshold {settings.threshold:g}"
    if settings.top_m is not None and admitted >= settings.top_m:
        return f"{settings.top_m} passages of higher gain were admitted"
    budget = settings.token_budget
    if budget is not None and tokens_used + candidate.tokens > budget:
        return f"{candidate.tokens} tokens do not fit the {budget - tokens_used} left of {budget}"
    return ""


# --- the pruner ------------------------------------------------------------------------------------------


class Probe(Protocol):
    """Measures passages; a generator does it, or a recorded run."""

    async def uncertainties(self, question: str, passages: Sequence[Passage]) -> tuple[Candidate, ...]:
        """NU(q|d) of every passage, in the order in which they came."""
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
