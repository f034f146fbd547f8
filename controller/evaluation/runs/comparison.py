"""Two configurations on the questions that both were asked: paired differences, risk at equal coverage."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ....policies.resampling import Interval, Numbers, bootstrap, interval, resample
from ....tools.errors import InputError
from .costs import TOTAL, model_calls, reader_calls, tokens
from .grading import gradable, grade
from .risk import Rank, Selection, by_own_rule, by_score, selection
from .rows import PredictionRow

Value = Callable[[PredictionRow], float]
Pair = tuple[PredictionRow, PredictionRow]

COVERED: dict[str, Value] = {
    "coverage": lambda row: float(row.action == "answer"),
    "failed": lambda row: float(row.action == "failed"),
}
GRADED: dict[str, Value] = {
    "EM": lambda row: grade(row).exact,
    "F1": lambda row: grade(row).f1,
    "accuracy within": lambda row: grade(row).within,
}
"""Means over the questions that can be graded, answered or not; the others are over all questions."""
SPENT: dict[str, Value] = {
    "tokens": tokens,
    "model calls": model_calls,
    "reader calls": reader_calls,
}
TIMED: dict[str, Value] = {"seconds": lambda row: row.timings[TOTAL]}
"""Over the questions that both have the time of: of one that failed, the time until it did."""

EQUAL_RISK = "risk at equal coverage"
"""What always answers cannot tell which to leave out: at a smaller coverage it answers random ones."""
RANKED_RISK = "risk at equal coverage, all by score"
OWN_RISK = "risk at its own coverage"


FEWEST = 6
"""Of fewer questions no difference is real, since all may differ one way by chance: 2 * 0.5**5 > 0.05."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of two configurations, over the same `questions`.

    `difference` is `second` less `first`, with its interval; it is `real` where that excludes 0 and there are
    at least FEWEST questions.
    """

    measure: str
    questions: int
    first: float
    second: float
    difference: Interval
    real: bool


@dataclass(frozen=True, slots=True)
class RunComparison:
    """`second` against `first` on the `questions` of both; `left_out` were asked of one only.

    `equal_coverage` is the smaller coverage of the two, over the questions that can be graded: where risk is
    compared at equal coverage. None where one of them answered nothing.
    """

    first: str
    second: str
    questions: int
    left_out: int
    equal_coverage: float | None
    differences: tuple[Difference, ...]


def compare_rows(
    first: str, first_rows: Sequence[PredictionRow], second: str, second_rows: Sequence[PredictionRow]
) -> RunComparison:
    """Compare two configurations, named for the tables; draws are of questions, the same for both.

    Raises InputError where they share no question, or the same id stands for two different questions.
    """
    pairs = _paired(first_rows, second_rows)
    graded = [pair for pair in pairs if gradable(pair[0])]
    timed = [pair for pair in pairs if all(TOTAL in row.timings for row in pair)]
    covered = [sum(pair[side].action == "answer" for pair in graded) for side in (0, 1)]
    answered = min(covered) > 0
    return RunComparison(
        first=first,
        second=second,
        questions=len(pairs),
        left_out=len(first_rows) + len(second_rows) - 2 * len(pairs),
        equal_coverage=min(covered) / len(graded) if answered else None,
        differences=(
            *_means(COVERED, pairs),
            *(_risks(graded) if answered else ()),
            *_means(GRADED, graded),
            *_means(SPENT, pairs),
            *_means(TIMED, timed),
        ),
    )


def _paired(first: Sequence[PredictionRow], second: Sequence[PredictionRow]) -> list[Pair]:
    by_id = {row.id: row for row in second}
    pairs = [(row, by_id[row.id]) for row in first if row.id in by_id]
    for one, two in pairs:
        if _asked(one) != _asked(two):
            raise InputError(
                f"question {one.id!r} is not the same in both runs; compare runs over one question file"
            )
    if not pairs:
        raise InputError("the runs share no question; compare runs over one question file")
    return pairs


def _asked(row: PredictionRow) -> object:
    return row.question, row.answers, row.answerable


def _means(values: Mapping[str, Value], pairs: Sequence[Pair]) -> Iterator[Difference]:
    """Every value's mean over the pairs; nothing where there is no pair."""
    for name, value in values.items() if pairs else ():
        ones, twos = (np.array([value(pair[side]) for pair in pairs], dtype=np.float64) for side in (0, 1))
        drawn = bootstrap(twos - ones, np.ones(len(pairs)))
        yield _difference(name, len(pairs), float(ones.mean()), float(twos.mean()), drawn)


def _risks(pairs: Sequence[Pair]) -> list[Difference]:
    """Risk at the smaller coverage of the two, which each draw has anew, and at each one's own."""

    def both(rank: Rank) -> tuple[Selection, Selection]:
        return selection([one for one, _ in pairs], rank), selection([two for _, two in pairs], rank)

    def equal(times: Numbers, chosen: tuple[Selection, Selection]) -> list[Numbers]:
        coverage = np.minimum(*(one.coverage(times) for one in chosen))
        return [one.risk(times, coverage) for one in chosen]

    def own(times: Numbers, chosen: tuple[Selection, Selection]) -> list[Numbers]:
        return [one.risk(times, one.coverage(times)) for one in chosen]

    ruled, ranked = both(by_own_rule), both(by_score)
    return [
        _risk(EQUAL_RISK, partial(equal, chosen=ruled), len(pairs)),
        _risk(RANKED_RISK, partial(equal, chosen=ranked), len(pairs)),
        _risk(OWN_RISK, partial(own, chosen=ranked), len(pairs)),
    ]


def _risk(name: str, both: Callable[[Numbers], list[Numbers]], questions: int) -> Difference:
    """Draws in which one of them answered nothing have no risk, and are left out."""
    first, second = (float(risk[0]) for risk in both(np.ones((1, questions))))

    def difference(times: Numbers) -> Numbers:
        ones, twos = both(times)
        return twos - ones

    drawn = resample(difference, questions)
    return _difference(name, questions, first, second, drawn[~np.isnan(drawn)])


def _difference(name: str, questions: int, one: float, two: float, drawn: Numbers) -> Difference:
    found = Interval(two - one, *interval(drawn))
    return Difference(name, questions, one, two, found, found.excludes_zero and questions >= FEWEST)
