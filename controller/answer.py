"""The object a question ends in: what `ask --json` prints."""

from dataclasses import dataclass
from typing import Literal

from ..policies.types import Source, SufficiencyReport


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage the answer rests on, and the sentence in it that carries the answer.

    `start` and `end` are character offsets of `text` in the passage.
    """

    id: str
    source: str
    title: str
    url: str | None
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """One passage of the pool: what IGP measured, whether it went into the prompt, and why or why not.

    `uncertainty` is NU(q|d) in [0, 1], `information_gain` IG(d, q) in [-1, 1]; both None where nothing was
    measured. `rank` counts from 1 in the order in which passages might go in, None where none were ranked.
    """

    id: str
    source: str
    title: str
    uncertainty: float | None
    information_gain: float | None
    rank: int | None
    admitted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Pruning:
    """What ranked the passages, and who else had a say.

    `baseline` is NU(q) in [0, 1], `threshold` T_p. `control` says which gate took over and why, `guard` what
    the sufficiency guard found; "" where none did.
    """

    method: str
    baseline: float
    threshold: float
    control: str
    guard: str


@dataclass(frozen=True, slots=True)
class Margins:
    """TrustMargin's two margins and their sum M against tau; None where the answers needed no scoring."""

    prior: float | None
    binding: float | None
    margin: float | None
    weight: float
    tau: float
    tie: bool


@dataclass(frozen=True, slots=True)
class Candidates:
    """Both answers as they were written; None where one was not."""

    direct: str | None
    rag: str | None


@dataclass(frozen=True, slots=True)
class Budget:
    """Spent and left of every limit (`seconds` is wall-clock time)."""

    spent: dict[str, float]
    left: dict[str, float]


@dataclass(frozen=True, slots=True)
class Answer:
    """How a question ended.

    `action` is `answer` or `abstain`. `answer` is None on abstention. `source` says which answer was trusted:
    `direct` (closed-book), `rag`, `agree` (both say the same), `none`. `grounded` is False for an answer that
    rests on no evidence. `pruning` is None where passages were not pruned. `timings` are seconds by stage.
    """

    action: Literal["answer", "abstain"]
    answer: str | None
    source: Source
    grounded: bool
    reason: str
    citations: tuple[Citation, ...]
    sufficiency: SufficiencyReport | None
    evidence: tuple[Evidence, ...]
    pruning: Pruning | None
    candidates: Candidates
    margins: Margins | None
    budget: Budget
    trace_id: str
    timings: dict[str, float]
