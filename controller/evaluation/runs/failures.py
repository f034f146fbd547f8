"""Why questions were not answered right: every failure in one group, by its nearest cause."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .grading import gradable, grade, grade_text
from .rows import PredictionRow
from .support import came_to_pruning, needed

EXAMPLES = 5

Test = Callable[[PredictionRow], bool]


def broke(row: PredictionRow) -> bool:
    """The run itself ended in an error."""
    return row.action == "failed"


def should_have_abstained(row: PredictionRow) -> bool:
    """It answered a question that has no answer."""
    return row.answerable is False


def wrong_answer_chosen(row: PredictionRow) -> bool:
    """It answered, and of the two answers that it wrote it kept the wrong one: the other was right."""
    return row.action == "answer" and _had_a_right_answer(row)


def abstained_wrongly(row: PredictionRow) -> bool:
    """It abstained, and one of the answers that it had written was right."""
    return row.action == "abstain" and _had_a_right_answer(row)


def not_retrieved(row: PredictionRow) -> bool:
    """Some document that the question needs is not in the pool. Where the support is not known: the pool is
    empty.
    """
    return not row.pool or row.supported(row.pool) < needed(row)


def judged_insufficient(row: PredictionRow) -> bool:
    """All that is needed is in the pool, or what is needed is not known; yet the run never came to pruning:
    the evidence was judged insufficient, or a limit ended the run.
    """
    return not came_to_pruning(row)


def admitted_too_little(row: PredictionRow) -> bool:
    """Some document that the question needs was in the pool and did not reach the prompt. Where the support
    is not known: no passage did.
    """
    return not row.read or row.supported(row.read) < needed(row)


def both_answers_wrong(_: PredictionRow) -> bool:
    """All that is known to be needed was in the prompt, and no answer was right."""
    return True


def _had_a_right_answer(row: PredictionRow) -> bool:
    return any(grade_text(text, row.answers).right for text in (row.direct, row.rag) if text)


GROUPS: dict[str, Test] = {
    "run failed": broke,
    "should have abstained": should_have_abstained,
    "wrong answer chosen": wrong_answer_chosen,
    "abstained wrongly": abstained_wrongly,
    "not retrieved": not_retrieved,
    "retrieved but judged insufficient": judged_insufficient,
    "admitted too little": admitted_too_little,
    "both answers wrong": both_answers_wrong,
}
"""The groups in the order in which they are tried: a failure is in the first that it fits."""


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """One group: what it means, how many failures are in it, and the ids of the first few."""

    name: str
    meaning: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailureReport:
    """All failures of one configuration among the `graded` of its questions; the groups' counts add up to
    `failures`.
    """

    configuration: str
    graded: int
    failures: int
    groups: tuple[FailureGroup, ...]


def failure_group(row: PredictionRow) -> str | None:
    """The group of a row; None where it is right, or cannot be graded.

    Right is an answer in which a gold answer stands, and an abstention where there is none.
    """
    if not gradable(row) or grade(row).right:
        return None
    return next(name for name, fits in GROUPS.items() if fits(row))


def explain(configuration: str, rows: Sequence[PredictionRow], examples: int = EXAMPLES) -> FailureReport:
    """Group the failures of one configuration, with up to `examples` ids a group."""
    found: dict[str, list[str]] = {name: [] for name in GROUPS}
    for row in rows:
        group = failure_group(row)
        if group is not None:
            found[group].append(row.id)
    return FailureReport(
        configuration=configuration,
        graded=sum(map(gradable, rows)),
        failures=sum(map(len, found.values())),
        groups=tuple(
            FailureGroup(name, _meaning(GROUPS[name]), len(ids), tuple(ids[:examples]))
            for name, ids in found.items()
        ),
    )


def _meaning(test: Test) -> str:
    """The test's docstring, which defines the group."""
    return " ".join((test.__doc__ or "").split())
