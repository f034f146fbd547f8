"""What became of the annotated support: how much of it every stage still holds, and what answers cite."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .rows import FoundPassage, PredictionRow

Holds = Callable[[PredictionRow], Iterable[FoundPassage]]

STAGES: dict[str, Holds] = {
    "first round": lambda row: row.retrieved[0] if row.retrieved else (),
    "all rounds": lambda row: (passage for found in row.retrieved for passage in found),
    "pool": lambda row: row.pool,
    "admitted": lambda row: row.admitted,
    "read": lambda row: row.read,
}
"""The stages in their order, each with the passages that it hands on."""


@dataclass(frozen=True, slots=True)
class StageRecall:
    """The share of the needed documents that a stage holds, averaged over questions, in [0, 1].

    `recall` is over all questions with annotated support, those not answered included; `complete` is the
    share of them of which it holds all. `pruned` is the recall over those of them that came to pruning, None
    where none did.
    """

    stage: str
    recall: float
    complete: float
    pruned: float | None


@dataclass(frozen=True, slots=True)
class SupportReport:
    """Recall by stage over `questions` with annotated support, `pruned` of which came to pruning.

    `citations` is the precision of citations: the mean over the `cited` of these questions whose answer
    cites anything of the share of its citations that are of needed documents; None where none does.
    """

    questions: int
    pruned: int
    stages: tuple[StageRecall, ...]
    cited: int
    citations: float | None


def needed(row: PredictionRow) -> frozenset[str]:
    """The documents that the question is known to need; empty where that is not known."""
    return frozenset(row.support or ())


def came_to_pruning(row: PredictionRow) -> bool:
    """Whether the controller decided to answer from its evidence."""
    return "prune" in row.stages


def support_report(rows: Iterable[PredictionRow]) -> SupportReport | None:
    """What became of the support; None where no question has any annotated."""
    known = [row for row in rows if needed(row)]
    if not known:
        return None
    pruned = [row for row in known if came_to_pruning(row)]
    cited = [row for row in known if row.citations]
    return SupportReport(
        questions=len(known),
        pruned=len(pruned),
        stages=tuple(_stage(name, holds, known, pruned) for name, holds in STAGES.items()),
        cited=len(cited),
        citations=_mean([_precision(row) for row in cited]) if cited else None,
    )


def _stage(
    name: str, holds: Holds, known: Sequence[PredictionRow], pruned: Sequence[PredictionRow]
) -> StageRecall:
    found = [_recall(row, holds) for row in known]
    return StageRecall(
        stage=name,
        recall=_mean(found),
        complete=_mean([float(recall == 1) for recall in found]),
        pruned=_mean([_recall(row, holds) for row in pruned]) if pruned else None,
    )


def _recall(row: PredictionRow, holds: Holds) -> float:
    return len(row.supported(holds(row))) / len(needed(row))


def _precision(row: PredictionRow) -> float:
    return _mean([float(bool(row.supported([citation]))) for citation in row.citations])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
