"""What was chosen over a file of arbitrated answers, what that is worth by the gold answers, and replays."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....policies.resampling import Numbers
from ....policies.types import Source
from ..grids import Grid, failure_grids
from .outcomes import Outcomes
from .rows import ArbitrationRow, rejudged

SOURCES: tuple[Source, ...] = ("direct", "rag", "agree", "none")


@dataclass(frozen=True, slots=True)
class Grade:
    """Mean F1 and EM in [0, 1] over the labelled questions; a failed one counts 0."""

    f1: float
    em: float


@dataclass(frozen=True, slots=True)
class Summary:
    """One file at one lambda (`weight`) and `tau`.

    `selected` counts the verdicts by source; `failed` questions have none, `failures` counts them by reason.
    `ties` were decided within the tie band. `grades` holds those of both answers, of the chosen one and of
    the better one (the oracle) over the `labelled` questions, {} where there are none.
    """

    questions: int
    failed: int
    failures: Mapping[str, int]
    selected: Mapping[str, int]
    ties: int
    weight: float
    tau: float
    labelled: int
    grades: Mapping[str, Grade]


@dataclass(frozen=True, slots=True)
class Change:
    """A question whose verdict came out otherwise than recorded."""

    id: str
    recorded: Source
    now: Source
    margin: float | None


def summarise(rows: Sequence[ArbitrationRow], weight: float, tau: float) -> Summary:
    """Sum up rows whose verdicts were decided with lambda = `weight` and `tau`."""
    verdicts = [row.verdict for row in rows if row.verdict is not None]
    found = Counter(verdict.source for verdict in verdicts)
    labelled = [row for row in rows if row.answers]
    return Summary(
        questions=len(rows),
        failed=len(rows) - len(verdicts),
        failures=dict(Counter(row.error for row in rows if row.error)),
        selected={source: found[source] for source in SOURCES},
        ties=sum(verdict.tie for verdict in verdicts),
        weight=weight,
        tau=tau,
        labelled=len(labelled),
        grades=_grades(Outcomes.of(labelled), weight, tau) if labelled else {},
    )


def _grades(outcomes: Outcomes, weight: float, tau: float) -> dict[str, Grade]:
    return {
        "direct": _mean(outcomes.direct),
        "rag": _mean(outcomes.rag),
        "chosen": _mean(outcomes.chosen(weight, tau)),
        "oracle": _mean(outcomes.oracle),
    }


def _mean(grades: Numbers) -> Grade:
    return Grade(*map(float, grades.mean(axis=0)))


def replayed(
    rows: Sequence[ArbitrationRow], weight: float, tau: float, tie_band: float
) -> tuple[list[ArbitrationRow], list[Change]]:
    """Every row decided again by lambda = `weight` and `tau`, and what changed; rows that failed stay so.

    Raises ModelOutputError where a recorded likelihood is not finite.
    """
    again: list[ArbitrationRow] = []
    changes: list[Change] = []
    for row in rows:
        if row.verdict is None:
            again.append(row)
            continue
        verdict = rejudged(row, weight, tau, tie_band)
        again.append(row.model_copy(update={"verdict": verdict}))
        if verdict.source != row.verdict.source:
            changes.append(Change(row.id, row.verdict.source, verdict.source, verdict.margin))
    return again, changes


def summary_grids(summary: Summary) -> list[Grid]:
    """What was chosen how often, why others failed, and the grades where there are any."""
    total = summary.questions
    counts = {source: count for source, count in summary.selected.items() if count}
    counts |= {"failed": summary.failed} if summary.failed else {}
    rows = tuple((name, str(count), f"{count / total:.0%}") for name, count in counts.items())
    title = f"{total} questions, lambda {summary.weight:g}, tau {summary.tau:g}, {summary.ties} ties"
    grids = [Grid(title, ("chosen", "questions", "share"), rows)]
    grids += failure_grids(summary.failures)
    if summary.grades:
        grades = tuple((name, f"{g.f1:.3f}", f"{g.em:.3f}") for name, g in summary.grades.items())
        grids.append(Grid(f"{summary.labelled} questions with gold answers", ("answer", "F1", "EM"), grades))
    return grids
