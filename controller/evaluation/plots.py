"""Plots of comparisons, by matplotlib, which is an extra of its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...tools.errors import SettingsError, StorageError
from .contrasts.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_comparison(comparison: Comparison, path: Path) -> None:
    """Every scorer's accuracy with its interval in each set and on average; the suffix says which format.

    Raises SettingsError where matplotlib is not installed or does not know the format.
    """
    sets = sorted({(found.family, found.construction) for found in comparison.sets})
    columns = [*(f"{family}\n{construction}" for family, construction in sets), "average"]
    series: dict[str, list[tuple[int, float, float, float]]] = {}
    for found in comparison.sets:
        accuracy = found.accuracy
        place = sets.index((found.family, found.construction))
        series.setdefault(found.scorer, []).append((place, accuracy.value, accuracy.low, accuracy.high))
    for total in comparison.overall:
        series[total.scorer].append((len(sets), total.average, total.low, total.high))
    plot_points(columns, series, "pairwise accuracy", path)


def plot_points(
    columns: Sequence[str],
    series: dict[str, list[tuple[int, float, float, float]]],
    measure: str,
    path: Path,
) -> None:
    """Points (column, value, low, high) of every series, side by side in each column, with chance at 0.5."""
    figure = new_figure(max(6.0, 1.6 * len(columns)))
    axes = figure.add_subplot()
    axes.axhline(0.5, color="grey", linewidth=0.8, linestyle="--")
    for number, (label, points) in enumerate(series.items()):
        shift = 0.8 * ((number + 0.5) / len(series) - 0.5)
        places = [place + shift for place, *_ in points]
        values = [value for _, value, _, _ in points]
        below = [value - low for _, value, low, _ in points]
        above = [high - value for _, value, _, high in points]
        axes.errorbar(places, values, yerr=[below, above], fmt="o", markersize=4, capsize=2, label=label)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_ylabel(measure)
    figure.legend(loc="outside right upper", fontsize="small")
    save_figure(figure, path)


def plot_lines(
    series: Mapping[str, Sequence[tuple[float, float]]], x_label: str, y_label: str, path: Path
) -> None:
    """A line with a mark at every point (x, y) of each series; points in the order given."""
    figure = new_figure(7.0)
    axes = figure.add_subplot()
    for label, points in series.items():
        axes.plot(*zip(*points, strict=True), marker="o", markersize=4, label=label)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    figure.legend(loc="outside right upper", fontsize="small")
    save_figure(figure, path)


def new_figure(width: float) -> "Figure":
    """An empty figure, `width` inches wide. Raises SettingsError where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  an extra of its own, and slow to import
    except ModuleNotFoundError as error:
        raise SettingsError("plots need matplotlib\nInstall it: pip install 'sufficit[plots]'") from error
    return Figure(figsize=(width, 4.5), layout="constrained")


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure; the suffix says which format. Raises SettingsError for an unknown one, StorageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}; choose another place") from error
