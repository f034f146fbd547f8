"""The tables of a run's report."""

from collections.abc import Sequence

from ....policies.resampling import Interval
from ..grids import Grid, ranged
from .comparison import EQUAL_RISK, FEWEST, OWN_RISK, RANKED_RISK, Difference, RunComparison
from .costs import StageMean
from .failures import FailureReport
from .report import RunReport
from .summary import Summary

MEASURES = (
    "EM, F1 and accuracy within (a gold answer stands in the answer) are means over all graded questions, "
    "where abstaining counts 0, and 1 where there is no answer to give; the area is that under risk against "
    "coverage. Of the support's stages, the pool is all that was found, and read what came into the prompt; "
    "complete is the share of questions with all of their support, and citations are precise where they are "
    "of it.",
)
"""What the tables of one configuration hold."""
READING = (
    f"Risk is the mean of 1 - F1 over what was answered. '{EQUAL_RISK}' is taken at the smaller coverage of "
    "the two: what covers more answers only its questions of the highest sufficiency score there, and what "
    "answers always, whatever the score, cannot tell them apart and answers random ones, so that its risk "
    f"stays what it is over all. '{RANKED_RISK}' ranks by the score even what does not heed it, as the curve "
    f"and the area do. '{OWN_RISK}' compares what each one answers itself.",
    "Where an interval holds 0 the two may differ all the same. Intervals are of one comparison each.",
    "Seconds hold the waiting for other questions, where several were asked at once.",
)
"""How a comparison is to be read."""
VERDICT = "Beside 'no real difference' stands by how much the interval lets the first's risk be higher."
"""How the overview's last column is to be read."""


def report_grids(report: RunReport) -> list[Grid]:
    """All tables, coverage first."""
    summaries = report.summaries
    grids = [coverage_grid(summaries), quality_grid(summaries), abstention_grid(summaries)]
    grids += [overview_grid(report.comparisons)]
    grids += [difference_grid(comparison) for comparison in report.comparisons]
    grids += [support_grid(summaries), failure_grid(report.failures)]
    grids += [cost_grid(summaries), latency_grid(summaries)]
    return [grid for grid in grids if grid.rows]


def coverage_grid(summaries: Sequence[Summary]) -> Grid:
    """What became of the questions."""
    rows = tuple(
        (
            s.configuration,
            str(s.questions),
            f"{s.coverage:.1%}",
            *map(str, (s.answered, s.abstained, s.hindered, s.failed)),
        )
        for s in summaries
    )
    header = (
        "configuration",
        "questions",
        "coverage",
        "answered",
        "abstained",
        "of these after a fault",
        "failed",
    )
    return Grid("Coverage: the share of all questions that was answered", header, rows)


def quality_grid(summaries: Sequence[Summary]) -> Grid:
    """How right the answers were."""
    rows = tuple(
        (
            s.configuration,
            str(q.questions),
            *(_interval(value) for value in (q.exact, q.f1, q.within, q.risk)),
            _number(q.area),
        )
        for s in summaries
        if (q := s.quality) is not None
    )
    header = ("configuration", "graded", "EM", "F1", "accuracy within", "risk", "area under risk")
    title = "Quality over all graded questions, risk (1 - F1) over those answered; 95% intervals"
    return Grid(title, header, rows)


def abstention_grid(summaries: Sequence[Summary]) -> Grid:
    """Abstention where it is known which questions have an answer."""
    rows = tuple(
        (
            s.configuration,
            *map(str, (a.questions, a.unanswerable, a.abstained)),
            _number(a.precision),
            _number(a.recall),
        )
        for s in summaries
        if (a := s.abstention) is not None
    )
    header = ("configuration", "questions", "unanswerable", "abstained", "precision", "recall")
    return Grid("Abstention where answerability is known", header, rows)


def overview_grid(comparisons: Sequence[RunComparison]) -> Grid:
    """The first configuration against every other: F1 over all questions, risk at equal coverage, tokens."""
    rows = []
    for comparison in comparisons:
        found = {difference.measure: difference for difference in comparison.differences}
        cells = (_change(found.get(measure)) for measure in ("F1", EQUAL_RISK, "tokens"))
        coverage = comparison.equal_coverage
        covered = "" if coverage is None else f"{coverage:.1%}"
        risk = found.get(EQUAL_RISK)
        rows.append((comparison.second, *cells, covered, "" if risk is None else _verdict(risk)))
    first = comparisons[0].first if comparisons else ""
    header = ("configuration", "F1", EQUAL_RISK, "tokens", "equal coverage", f"risk of {first}")
    return Grid(f"Every configuration less {first}, 95% intervals", header, tuple(rows))


def _change(found: Difference | None) -> str:
    if found is None:
        return ""
    value = found.difference
    return ranged(value.value, value.low, value.high, sign="+")


def _verdict(risk: Difference) -> str:
    """How the first configuration's risk stands to the second's."""
    if risk.real:
        return "lower" if risk.difference.value > 0 else "higher"
    return f"no real difference, at most {max(0.0, -risk.difference.low):.3f} higher"


def difference_grid(comparison: RunComparison) -> Grid:
    """Paired differences, and which of them are real."""
    coverage = comparison.equal_coverage
    at = "" if coverage is None else f"; equal coverage {coverage:.1%}"
    left = f"; {comparison.left_out} questions of one only left out" if comparison.left_out else ""
    return Grid(
        f"{comparison.second} less {comparison.first}, {comparison.questions} questions{at}{left}; "
        f"a difference is real where its 95% interval excludes 0, over {FEWEST} questions or more",
        ("measure", "questions", comparison.first, comparison.second, "difference", "real"),
        tuple(map(_difference, comparison.differences)),
    )


def _difference(found: Difference) -> tuple[str, ...]:
    return (
        found.measure,
        str(found.questions),
        f"{found.first:.3f}",
        f"{found.second:.3f}",
        _change(found),
        "yes" if found.real else "no",
    )


def support_grid(summaries: Sequence[Summary]) -> Grid:
    """Support recall by stage, over all questions and over those that came to pruning; citations."""
    rows: list[tuple[str, ...]] = []
    for summary in summaries:
        support = summary.support
        if support is None:
            continue
        rows += [
            (
                summary.configuration,
                stage.stage,
                f"{stage.recall:.3f} ({support.questions})",
                f"{stage.complete:.1%}",
                "" if stage.pruned is None else f"{stage.pruned:.3f} ({support.pruned})",
            )
            for stage in support.stages
        ]
        cited = "" if support.citations is None else f"{support.citations:.3f} ({support.cited})"
        rows.append((summary.configuration, "precision of citations", cited, "", ""))
    header = ("configuration", "stage", "recall of support (questions)", "complete", "of those pruned")
    return Grid("Annotated support by stage", header, tuple(rows))


def failure_grid(reports: Sequence[FailureReport]) -> Grid:
    """Failures by group, a column a configuration."""
    columns = {r.configuration: {group.name: group for group in r.groups} for r in reports}
    names = dict.fromkeys(name for groups in columns.values() for name in groups)
    header = ("group", *(f"{r.configuration} ({r.failures} of {r.graded})" for r in reports))
    rows = tuple((name, *(str(groups[name].count) for groups in columns.values())) for name in names)
    return Grid("Failures by their nearest cause", header, rows)


def explanation_grid(report: FailureReport) -> Grid:
    """One configuration's failures with examples and meanings."""
    rows = tuple((g.name, str(g.count), " ".join(g.examples), g.meaning) for g in report.groups)
    title = f"{report.configuration}: {report.failures} failures among {report.graded} graded questions"
    return Grid(title, ("group", "failures", "for example", "meaning"), rows)


def cost_grid(summaries: Sequence[Summary]) -> Grid:
    """Tokens and model calls by stage."""
    rows = tuple(
        (
            s.configuration,
            mean.stage,
            *(f"{value:.1f}" for value in _costs(mean)),
        )
        for s in summaries
        for mean in s.costs
    )
    header = (
        "configuration",
        "stage",
        "model calls",
        "tokens generated",
        "tokens of prompts",
        "reader calls",
    )
    return Grid(
        "Mean cost of a question: generator and RINSE's encoder, and calls of rerankers and small readers",
        header,
        rows,
    )


def _costs(mean: StageMean) -> tuple[float, ...]:
    return mean.model_calls, mean.generated_tokens, mean.prompt_tokens, mean.reader_calls


def latency_grid(summaries: Sequence[Summary]) -> Grid:
    """Seconds by stage."""
    rows = tuple(
        (s.configuration, found.stage, str(found.questions), f"{found.p50:.2f}", f"{found.p95:.2f}")
        for s in summaries
        for found in s.latency
    )
    return Grid("Seconds of a question", ("configuration", "stage", "questions", "p50", "p95"), rows)


def _interval(value: Interval | None) -> str:
    return "" if value is None else ranged(value.value, value.low, value.high)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
