"""What the policies say: verdicts with their reasons, and the protocols they are called by.

Every report holds the measurements it rests on, so that the decision can be made again without a model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ..tools.types import Generation, Passage, PassageKey

# --- RINSE -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WindowCoverage:
    """How well the evidence covers one window of the question (RINSE section 4, content reader).

    `text` is the window as readable text; `overlap` in [0, 1] its best IDF-weighted overlap with one source;
    `relevance` its best reranker score with one source.
    """

    text: str
    overlap: float
    relevance: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reader measured, before any correction: h_r(q, E). `coverage` is the content reader's."""

    raw: float
    coverage: tuple[WindowCoverage, ...] = ()


@dataclass(frozen=True, slots=True)
class ReaderScore:
    """One reader's part of the sum: `standardised` = (raw - size_correction - mu) / sigma."""

    reader: str
    raw: float
    size_correction: float
    standardised: float


@dataclass(frozen=True, slots=True)
class SufficiencyReport:
    """s(q, E) with what it stands on.

    `score` is None when there was no evidence to score; such evidence never suffices. `threshold` is the
    answer threshold that the artifact or the settings give.
    """

    score: float | None
    threshold: float
    readers: tuple[ReaderScore, ...]
    coverage: tuple[WindowCoverage, ...]
    passages: int

    @property
    def sufficient(self) -> bool:
        """Whether the score reaches the threshold."""
        return self.score is not None and self.score >= self.threshold


class Reader(Protocol):
    """One reader of RINSE: a number for a question and a set of passages, before any answer exists."""

    @property
    def name(self) -> str:
        """`content`, `span`, `latent`, or another reader's name as the artifact lists it."""
        ...

    async def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """h_r(q, E) for at least one passage. Raises ModelOutputError where a model returns NaN."""
        ...


class Sufficiency(Protocol):
    """Does the evidence suffice?"""

    async def score(self, question: str, passages: Sequence[Passage]) -> SufficiencyReport:
        """Score the evidence set; an empty one gets a report without a score."""
        ...


# --- action and next query -------------------------------------------------------------------------------

Action = Literal["answer", "retrieve_more", "fetch_web", "abstain"]


@dataclass(frozen=True, slots=True)
class LoopState:
    """What the action policy may look at besides the score.

    `next_query` is a query not tried before, None where there is none; `new_passages` counts what the last
    round added to the pool; `left` is what remains of each budget.
    """

    rounds_left: int
    web_fetches_left: int
    next_query: str | None
    new_passages: int
    left: dict[str, float]


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision with all that it rested on.

    `query` is set for `retrieve_more`; for `fetch_web` it is None where no untried query is left, and the
    question itself is what to search for.
    """

    action: Action
    reason: str
    score: float | None
    threshold: float
    query: str | None
    left: dict[str, float]


class ActionPolicy(Protocol):
    """From a sufficiency report to what happens next."""

    def decide(self, report: SufficiencyReport, state: LoopState) -> Decision:
        """Never raises; `abstain` is always possible."""
        ...


class QueryPolicy(Protocol):
    """The next query, from what the evidence does not cover."""

    def next(self, question: str, report: SufficiencyReport, history: Sequence[str]) -> str | None:
        """A query whose normalised text is not in `history`, or None."""
        ...


# --- IGP -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PassageGain:
    """One candidate under IGP, or under a rival.

    `uncertainty` is NU(q|d) in [0, 1], and `gain` is IG(d, q) = NU(q) - NU(q|d), or a rival's score, higher
    is better; both None where nothing was measured. Under set-aware admission both are given the passages
    admitted before. `rank` counts from 1, `tokens` is the passage's length in the prompt. `reason` says why
    it is out, or why it was kept against its gain; "" if there is nothing to explain. A `barred` passage
    cannot go in whatever its gain: it fits no prompt, or says what another one says. `baseline` is NU(q) over
    the passage's own horizon where IGP section 3.5's common horizon is on.
    """

    key: PassageKey
    uncertainty: float | None
    gain: float | None
    rank: int
    tokens: int
    admitted: bool
    reason: str
    barred: bool = False
    baseline: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate as probed: NU(q|d), None if it fits no prompt, and its length in the prompt in tokens.

    `baseline` is NU(q) over the same number of steps, where a common horizon is wanted.
    """

    key: PassageKey
    uncertainty: float | None
    tokens: int
    baseline: float | None = None


@dataclass(frozen=True, slots=True)
class ProbeRound:
    """What set-aware admission measured in one round, when the passages of `given` had been admitted."""

    given: tuple[PassageKey, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class SubsetScore:
    """s(q, E) of some of the candidates."""

    keys: tuple[PassageKey, ...]
    score: float | None


@dataclass(frozen=True, slots=True)
class GuardReport:
    """What the sufficiency guard measured, in the order in which it did, and what it kept against the gain.

    `threshold` is the answer threshold; `note` says in one sentence what the guard found.
    """

    threshold: float
    checks: tuple[SubsetScore, ...]
    kept: tuple[PassageKey, ...]
    note: str


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What was admitted, in the order in which it goes into the prompt, and why the rest was not.

    `baseline` is NU(q) in [0, 1]. `top_k`, `max_tokens`, `threshold` are K, MT and T_p as used. `gains` holds
    every candidate in rank order. `method` names what ranked them. `control` says which control took over
    and why, "" if none did (IGP section 5.2). `rounds` are the measurements of set-aware admission.
    """

    admitted: tuple[PassageKey, ...]
    baseline: float
    gains: tuple[PassageGain, ...]
    top_k: int
    max_tokens: int
    threshold: float
    method: str = "information gain"
    control: str = ""
    rounds: tuple[ProbeRound, ...] = ()
    guard: GuardReport | None = None


class Pruner(Protocol):
    """Which passages go into the prompt?"""

    async def prune(self, question: str, passages: Sequence[Passage], baseline: float) -> PruneReport:
        """Admit a subset of `passages`, which may be empty; `baseline` is NU(q), computed once a question."""
        ...


# --- TrustMargin -----------------------------------------------------------------------------------------

Source = Literal["direct", "rag", "agree", "none"]


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """Mean token log-likelihoods of both answers under the three views of TrustMargin section 3.

    `question_*`: question only; `both_*`: question and passages; `context_*`: passages only.
    """

    question_direct: float
    question_rag: float
    both_direct: float
    both_rag: float
    context_direct: float
    context_rag: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which answer to trust. `likelihoods` and the margins are None when no scoring was needed.

    `margin` = `prior` + lambda * `binding`; RAG wins iff margin > `tau`. `tie` marks |margin - tau| within
    the backend's noise.
    """

    source: Source
    answer: str
    reason: str
    likelihoods: Likelihoods | None
    prior: float | None
    binding: float | None
    margin: float | None
    weight: float
    tau: float
    tie: bool


class Arbiter(Protocol):
    """Which of two answers is to be trusted?"""

    async def choose(
        self, question: str, passages: Sequence[Passage], direct: Generation, rag: Generation
    ) -> Verdict:
        """Choose between the closed-book answer and the one that read `passages`."""
        ...
