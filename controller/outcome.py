"""What a run has found so far, and the answer it amounts to when the run ends, however it ends."""

from dataclasses import dataclass

from ..policies.abstention import ClosedBookRule
from ..policies.types import Decision, PassageGain, PruneReport, Source, SufficiencyReport, Verdict
from ..tools.errors import BudgetExhausted
from ..tools.types import Generation, Passage
from .answer import Answer, Budget, Candidates, Evidence, Margins, Pruning
from .budget import Ledger
from .citations import cite
from .recording import Recorder
from .trace import Finished


@dataclass(slots=True)
class Outcome:
    """Filled in stage by stage; a stage that failed or was not reached leaves None."""

    question: str
    pool: tuple[Passage, ...] = ()
    report: SufficiencyReport | None = None
    decision: Decision | None = None
    direct: Generation | None = None
    baseline: float | None = None
    prune: PruneReport | None = None
    admitted: tuple[Passage, ...] = ()
    rag: Generation | None = None
    read: tuple[Passage, ...] = ()
    verdict: Verdict | None = None
    stopped_by: BudgetExhausted | None = None


@dataclass(frozen=True, slots=True)
class _Ending:
    """The end itself: which answer, from where, and why."""

    answer: str | None
    source: Source
    reason: str
    grounded: bool


def conclude(outcome: Outcome, closed_book: ClosedBookRule, ledger: Ledger, recorder: Recorder) -> Answer:
    """Turn what was found into an answer or an abstention with a reason, and record it."""
    ending = _ending(outcome, closed_book)
    cited = ending.answer if ending.grounded else None
    account = ledger.account()
    answer = Answer(
        action="answer" if ending.answer else "abstain",
        answer=ending.answer,
        source=ending.source,
        grounded=ending.grounded,
        reason=ending.reason,
        citations=cite(outcome.question, cited, outcome.read) if cited else (),
        sufficiency=outcome.report,
        evidence=_evidence(outcome),
        pruning=_pruning(outcome.prune),
        candidates=Candidates(
            outcome.direct.text if outcome.direct else None, outcome.rag.text if outcome.rag else None
        ),
        margins=_margins(outcome.verdict),
        budget=Budget(account.spent, account.left),
        trace_id=recorder.trace_id,
        timings={**recorder.timings, "total": ledger.elapsed},
    )
    recorder.append(Finished(answer=answer))
    return answer


def _ending(outcome: Outcome, closed_book: ClosedBookRule) -> _Ending:
    if outcome.verdict is not None:
        return _judged(outcome, outcome.verdict)
    if outcome.decision is not None and outcome.decision.action == "answer":
        return _unjudged(outcome)
    return _insufficient(outcome, closed_book)


def _judged(outcome: Outcome, verdict: Verdict) -> _Ending:
    """TrustMargin chose. An answer that is the closed-book one alone rests on no evidence."""
    if verdict.source == "none":
        return _Ending(None, "none", verdict.reason, False)
    grounded = verdict.source != "direct" and bool(outcome.read)
    return _Ending(verdict.answer, verdict.source, verdict.reason, grounded)


def _unjudged(outcome: Outcome) -> _Ending:
    """The evidence sufficed, but the run ended, or a model failed, before the answers were compared."""
    why = _limit(outcome.stopped_by) if outcome.stopped_by else "The answers could not be compared."
    if outcome.rag is not None and outcome.rag.text and outcome.read:
        return _Ending(outcome.rag.text, "rag", f"{why} The evidence sufficed, so its answer stands.", True)
    return _Ending(None, "none", f"{why} No answer had been written from the evidence.", False)


def _insufficient(outcome: Outcome, closed_book: ClosedBookRule) -> _Ending:
    """The evidence does not suffice, or a limit ended the run before that was known."""
    why = ""
    if outcome.stopped_by is not None:
        why = _limit(outcome.stopped_by)
    elif outcome.decision is not None:
        why = outcome.decision.reason
    permission = closed_book.permits(outcome.direct, outcome.baseline)
    if permission.granted and outcome.direct is not None:
        return _Ending(outcome.direct.text, "direct", f"{why} {permission.reason}", False)
    return _Ending(None, "none", f"{why} {permission.reason}".rstrip(), False)


def _limit(spent: BudgetExhausted) -> str:
    return f"The limit budget.{spent.limit} = {spent.allowed:g} was reached."


def _evidence(outcome: Outcome) -> tuple[Evidence, ...]:
    """Every passage of the pool, those admitted first, in prompt order."""
    gains = {gain.key: gain for gain in outcome.prune.gains} if outcome.prune else {}
    admitted = {passage.key: place for place, passage in enumerate(outcome.admitted)}
    ordered = sorted(outcome.pool, key=lambda passage: admitted.get(passage.key, len(admitted)))
    found: list[Evidence] = []
    for passage in ordered:
        gain = gains.get(passage.key)
        # A rival's score is no gain: it comes without an uncertainty.
        measured = gain is not None and gain.uncertainty is not None
        found.append(
            Evidence(
                id=passage.id,
                source=passage.source,
                title=passage.title,
                uncertainty=gain.uncertainty if gain else None,
                information_gain=gain.gain if gain and measured else None,
                rank=gain.rank if gain else None,
                admitted=passage.key in admitted,
                reason=_reason(outcome, passage, gain),
            )
        )
    return tuple(found)


def _pruning(report: PruneReport | None) -> Pruning | None:
    if report is None:
        return None
    guard = report.guard.note if report.guard else ""
    return Pruning(report.method, report.baseline, report.threshold, report.control, guard)


def _reason(outcome: Outcome, passage: Passage, gain: PassageGain | None) -> str:
    """Why a passage is not in the prompt, or has no gain; "" where there is nothing to explain."""
    if outcome.rag is not None and passage in outcome.admitted and passage not in outcome.read:
        return "admitted, but the prompt had no room for it: prompts.context_tokens"
    if gain is not None:
        return gain.reason
    if outcome.decision is None or outcome.decision.action != "answer":
        return "not measured: the evidence did not suffice"
    return "not measured: pruning failed, retrieval order was kept"


def _margins(verdict: Verdict | None) -> Margins | None:
    if verdict is None:
        return None
    return Margins(verdict.prior, verdict.binding, verdict.margin, verdict.weight, verdict.tau, verdict.tie)
