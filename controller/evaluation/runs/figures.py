"""The plots of a run's report, as PNG."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from ..plots import new_figure
from .costs import TOTAL
from .summary import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(summaries: Sequence[Summary]) -> dict[str, bytes]:
    """Plots by what they show, those for which there is something to show.

    Raises SettingsError where matplotlib is not installed.
    """
    drawn = {
        "risk against coverage": _risk(summaries),
        "F1 against tokens": _frontier(summaries),
        "recall of support by stage": _support(summaries),
    }
    return {name: _png(figure) for name, figure in drawn.items() if figure.axes[0].has_data()}


def _risk(summaries: Sequence[Summary]) -> "Figure":
    """Every risk-coverage curve; a mark where the configuration itself stands."""
    figure = new_figure(7.0)
    axes = figure.add_subplot(xlabel="coverage", ylabel="risk (1 - F1 of what is answered)")
    for summary in summaries:
        curve = summary.quality.curve if summary.quality else ()
        if curve:
            points = [(point.coverage, point.risk) for point in curve]
            (line,) = axes.plot(*zip(*points, strict=True), label=plain(summary.configuration))
            axes.plot(*points[-1], marker="o", color=line.get_color())
    axes.set_ylim(0, 1)
    return figure


def _frontier(summaries: Sequence[Summary]) -> "Figure":
    figure = new_figure(7.0)
    axes = figure.add_subplot(xlabel="tokens of a question, generated and of prompts", ylabel="F1")
    for summary in summaries:
        if summary.quality is None:
            continue
        total = next(mean for mean in summary.costs if mean.stage == TOTAL)
        f1 = summary.quality.f1
        axes.errorbar(
            total.generated_tokens + total.prompt_tokens,
            f1.value,
            yerr=[[f1.value - f1.low], [f1.high - f1.value]],
            fmt="o",
            capsize=2,
            label=plain(summary.configuration),
        )
    return figure


def _support(summaries: Sequence[Summary]) -> "Figure":
    figure = new_figure(7.0)
    axes = figure.add_subplot(ylabel="recall of support, all questions")
    for summary in summaries:
        if summary.support is not None:
            recall: Mapping[str, float] = {stage.stage: stage.recall for stage in summary.support.stages}
            axes.plot(list(recall), list(recall.values()), marker="o", label=plain(summary.configuration))
    axes.set_ylim(0, 1)
    return figure


def plain(name: str) -> str:
    """A label that matplotlib takes as it stands: neither mathematics nor hidden."""
    return " " + name.replace("$", r"\$")


def _png(figure: "Figure") -> bytes:
    drawn = BytesIO()
    figure.legend(loc="outside right upper", fontsize="small")
    figure.savefig(drawn, format="png", dpi=120)
    return drawn.getvalue()
