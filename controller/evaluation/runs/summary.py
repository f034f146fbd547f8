"""One configuration in figures: coverage first, then how right it was, what it rested on, what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....policies.resampling import Interval, interval, mean_interval, resample
from ....tools.errors import InputError
from .costs import Latency, StageMean, costs, latencies
from .grading import gradable, grade
from .risk import Point, Selection, area, curve, selection
from .rows import PredictionRow
from .support import SupportReport, support_report


@dataclass(frozen=True, slots=True)
class Quality:
    """How right the answers were, over the `questions` that can be graded; intervals are over questions.

    `exact`, `f1` and `within` are means over all of these, whether answered or not: abstaining is right where
    a question has no answer, and failing never is. `risk` is 1 - F1 averaged over what was answered, `area`
    the area under the risk-coverage `curve`; None where nothing was answered.
    """

    questions: int
    exact: Interval
    f1: Interval
    within: Interval
    risk: Interval | None
    area: float | None
    curve: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Abstention:
    """Abstention as a test for questions without an answer, over the `questions` of which that is known.

    `precision` is the share of abstentions that were right, `recall` the share of the `unanswerable` on which
    it abstained; None where there is nothing to divide by.
    """

    questions: int
    unanswerable: int
    abstained: int
    precision: float | None
    recall: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """One configuration. `coverage` in [0, 1] is the share of all `questions` that were answered.

    `hindered` counts the questions that abstained after a tool had failed: without the fault they might have
    been answered.

    `quality`, `abstention` and `support` are None where the questions do not say what they would need.
    """

    configuration: str
    questions: int
    answered: int
    abstained: int
    failed: int
    hindered: int
    coverage: float
    quality: Quality | None
    abstention: Abstention | None
    support: SupportReport | None
    costs: tuple[StageMean, ...]
    latency: tuple[Latency, ...]


def summarise(configuration: str, rows: Sequence[PredictionRow]) -> Summary:
    """The figures of one configuration's rows. Raises InputError where there are none."""
    if not rows:
        raise InputError(f"{configuration} has no rows: there is nothing to sum up")
    counts = {action: sum(row.action == action for row in rows) for action in ("answer", "abstain", "failed")}
    return Summary(
        configuration=configuration,
        questions=len(rows),
        answered=counts["answer"],
        abstained=counts["abstain"],
        failed=counts["failed"],
        hindered=sum(row.hindered for row in rows),
        coverage=counts["answer"] / len(rows),
        quality=_quality([row for row in rows if gradable(row)]),
        abstention=_abstention([row for row in rows if row.answerable is not None]),
        support=support_report(rows),
        costs=costs(rows),
        latency=latencies(rows),
    )


def _quality(rows: Sequence[PredictionRow]) -> Quality | None:
    if not rows:
        return None
    grades = [grade(row) for row in rows]
    chosen = selection(rows)
    return Quality(
        questions=len(rows),
        exact=mean_interval(np.array([found.exact for found in grades])),
        f1=mean_interval(np.array([found.f1 for found in grades])),
        within=mean_interval(np.array([found.within for found in grades])),
        risk=_risk(chosen),
        area=area(chosen),
        curve=curve(chosen),
    )


def _risk(chosen: Selection) -> Interval | None:
    """The risk at full coverage; draws in which nothing was answered have none."""
    if not len(chosen.order):
        return None
    drawn = resample(lambda times: chosen.risk(times, chosen.coverage(times)), chosen.questions)
    return Interval(float(chosen.losses.mean()), *interval(drawn[~np.isnan(drawn)]))


def _abstention(rows: Sequence[PredictionRow]) -> Abstention | None:
    if not rows:
        return None
    unanswerable = sum(row.answerable is False for row in rows)
    abstained = [row for row in rows if row.action == "abstain"]
    right = sum(row.answerable is False for row in abstained)
    return Abstention(
        questions=len(rows),
        unanswerable=unanswerable,
        abstained=len(abstained),
        precision=right / len(abstained) if abstained else None,
        recall=right / unanswerable if unanswerable else None,
    )
