"""Wrong-hit rate against fetches saved: a curve a method, with intervals."""

from pathlib import Path

from ..plots import new_figure, save_figure
from .report import MOST_WRONG, CachingReport


def plot_caching(report: CachingReport, path: Path) -> None:
    """Draw to `path`; the suffix says which format. Raises SettingsError and StorageError as `plots` does."""
    figure = new_figure(8.0)
    axes = figure.add_subplot()
    for line in report.lines:
        points = sorted(line.points, key=lambda point: point.saved.value)
        saved = [point.saved for point in points]
        wrong = [point.wrong for point in points]
        axes.errorbar(
            [s.value for s in saved],
            [w.value for w in wrong],
            xerr=[[max(0.0, s.value - s.low) for s in saved], [max(0.0, s.high - s.value) for s in saved]],
            yerr=[[max(0.0, w.value - w.low) for w in wrong], [max(0.0, w.high - w.value) for w in wrong]],
            fmt="o-",
            markersize=4,
            linewidth=1.2,
            elinewidth=0.4,
            label=line.method,
        )
    axes.axhline(MOST_WRONG, color="grey", linewidth=0.8, linestyle="--")
    axes.set_xlabel("fetches saved, share of events")
    axes.set_ylabel("wrong hits, share of hits")
    figure.legend(loc="outside right upper", fontsize="small")
    save_figure(figure, path)
