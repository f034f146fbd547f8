"""A recorded run as tools: each gives back what was measured, at the price that was paid for it."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ..policies.types import Candidate, Likelihoods, PassageGain, PruneReport, SufficiencyReport
from ..tools.errors import BudgetExhausted, ToolError, TraceError
from ..tools.types import Generation, Passage, PassageKey
from .budget import Ledger
from .stages import Visit, Written
from .trace import Arbitrated, Event, Fault, Opened, Pruned, Retrieved, Scored, Stage, Stopped, Wrote

E = TypeVar("E", bound=Event)

STAGES: dict[type, Stage] = {
    Opened: "open",
    Scored: "score",
    Pruned: "prune",
    Wrote: "write",
    Arbitrated: "arbitrate",
}


class Diverged(TraceError):
    """The run took a way on which nothing was recorded."""


class Tape:
    """What was measured, by stage, in the order in which it was."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events: dict[Stage, deque[Event]] = defaultdict(deque)
        for event in events:
            stage = stage_of(event)
            if stage is not None:
                self._events[stage].append(event)

    def take(self, stage: Stage, kind: type[E], ledger: Ledger) -> E:
        """The stage's next event, its cost charged to `ledger`; a recorded fault or stop is raised again.

        Raises Diverged where nothing of the kind was recorded.
        """
        if not self._events[stage]:
            raise Diverged(f"nothing more was recorded of the stage {stage!r}")
        event = self._events[stage].popleft()
        ledger.charge(event.cost)
        if isinstance(event, Fault):
            # The recorder writes down an error's class name, so the stand-in must bear it.
            raise type(event.error, (ToolError,), {})(event.message)
        if isinstance(event, Stopped):
            raise BudgetExhausted(event.limit, event.allowed)
        if not isinstance(event, kind):
            raise Diverged(f"the stage {stage!r} was recorded as {event.kind!r}")
        return event


def stage_of(event: Event) -> Stage | None:
    """The stage that an event belongs to; None for those that begin, decide and end."""
    if isinstance(event, Fault | Stopped):
        return event.stage
    if isinstance(event, Retrieved):
        return "retrieve" if event.origin == "index" else "web"
    return STAGES.get(type(event))


@dataclass(frozen=True, slots=True)
class RecordedOpener:
    """The closed-book answer and NU(q) as recorded."""

    tape: Tape
    ledger: Ledger
    price: dict[str, int]

    async def open(self, question: str) -> tuple[Generation, float]:  # noqa: ARG002  the tape holds one question
        """See Opener."""
        opened = self.tape.take("open", Opened, self.ledger)
        return opened.direct, opened.baseline


@dataclass(frozen=True, slots=True)
class RecordedSearch:
    """Retrieval rounds, or visits to the web, as recorded."""

    tape: Tape
    ledger: Ledger
    stage: Stage

    async def search(self, query: str, k: int) -> list[Passage]:  # noqa: ARG002  a settings change shows anyway
        """See Retriever."""
        return list(self._found(query).passages)

    async def gather(self, query: str) -> Visit:
        """See Web."""
        found = self._found(query)
        return Visit(found.passages, found.pages)

    def _found(self, query: str) -> Retrieved:
        found = self.tape.take(self.stage, Retrieved, self.ledger)
        if found.query != query:
            raise Diverged(f"the next query is {query!r}, recorded was {found.query!r}")
        return found


@dataclass(frozen=True, slots=True)
class RecordedSufficiency:
    """The readers' standardised scores as recorded, summed again, against the threshold now set, if any."""

    tape: Tape
    ledger: Ledger
    threshold: float | None

    async def score(self, question: str, passages: Sequence[Passage]) -> SufficiencyReport:  # noqa: ARG002
        """See Sufficiency. Raises Diverged if another number of passages was scored."""
        report = self.tape.take("score", Scored, self.ledger).report
        if passages and report.passages != len(passages):
            raise Diverged(f"{len(passages)} passages are to be scored, recorded were {report.passages}")
        threshold = report.threshold if self.threshold is None else self.threshold
        score = sum(reader.standardised for reader in report.readers) if report.readers else None
        return replace(report, score=score, threshold=threshold)


@dataclass(slots=True)
class RecordedPruning:
    """What pruning measured as recorded: NU(q|d), also given other passages, and the guard's scores."""

    tape: Tape
    ledger: Ledger
    threshold: float | None
    _report: PruneReport | None = None

    async def uncertainties(
        self,
        question: str,  # noqa: ARG002
        passages: Sequence[Passage],
        given: Sequence[Passage] = (),
    ) -> tuple[Candidate, ...]:
        """See Probe. Raises Diverged if a passage was not probed."""
        report = self._taken()
        candidates = {gain.key: _candidate(gain) for gain in report.gains} if not given else {}
        keys = tuple(passage.key for passage in given)
        for probed in report.rounds:
            if probed.given == keys:
                candidates = {candidate.key: candidate for candidate in probed.candidates}
        if any(passage.key not in candidates for passage in passages):
            raise Diverged("a passage of the pool was not probed in the recorded run")
        return tuple(candidates[passage.key] for passage in passages)

    def tokens(self, passage: Passage) -> int:
        """See Probe."""
        found = {gain.key: gain.tokens for gain in self._taken().gains}
        if passage.key not in found:
            raise Diverged("a passage of the pool was not there in the recorded run")
        return found[passage.key]

    async def score(self, question: str, passages: Sequence[Passage]) -> SufficiencyReport:  # noqa: ARG002
        """See Sufficiency. Raises Diverged if the guard did not score these passages."""
        guard = self._taken().guard
        keys = tuple(passage.key for passage in passages)
        check = next((c for c in guard.checks if c.keys == keys), None) if guard else None
        if guard is None or check is None:
            raise Diverged("the guard scores a set of passages that it did not score in the recorded run")
        threshold = guard.threshold if self.threshold is None else self.threshold
        return SufficiencyReport(check.score, threshold, (), (), len(passages))

    def _taken(self) -> PruneReport:
        if self._report is None:
            self._report = self.tape.take("prune", Pruned, self.ledger).report
        return self._report


def _candidate(gain: PassageGain) -> Candidate:
    return Candidate(gain.key, gain.uncertainty, gain.tokens, gain.baseline)


@dataclass(frozen=True, slots=True)
class RecordedWriter:
    """The RAG answer as recorded, if it is to be written from the same passages.

    `admitted` is None where pruning had failed: then the passages follow from the pool, which is checked.
    """

    tape: Tape
    ledger: Ledger
    admitted: tuple[PassageKey, ...] | None

    async def write(self, question: str, passages: Sequence[Passage]) -> Written:  # noqa: ARG002
        """See Writer. Raises Diverged for other passages: nobody knows what the model would have written."""
        if self.admitted is not None and tuple(p.key for p in passages) != self.admitted:
            raise Diverged("other passages were admitted; what the model would write is not recorded")
        wrote = self.tape.take("write", Wrote, self.ledger)
        return Written(wrote.rag, wrote.read)


@dataclass(frozen=True, slots=True)
class RecordedViews:
    """The six likelihoods as recorded."""

    tape: Tape
    ledger: Ledger

    async def likelihoods(
        self,
        question: str,  # noqa: ARG002
        passages: Sequence[Passage],  # noqa: ARG002
        direct: Generation,  # noqa: ARG002
        rag: Generation,  # noqa: ARG002
    ) -> Likelihoods:
        """See Views. Raises Diverged where the recorded verdict needed none."""
        verdict = self.tape.take("arbitrate", Arbitrated, self.ledger).verdict
        if verdict.likelihoods is None:
            raise Diverged("the answers were not scored in the recorded run")
        return verdict.likelihoods
