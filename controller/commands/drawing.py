"""`--plot FILE`: what would keep it from being drawn is said before long work, not after it."""

from pathlib import Path
from typing import Any

import typer

from ...tools.errors import SettingsError

SUFFIXES = (".png", ".svg", ".pdf")


def plot_option(what: str) -> Any:
    """The option of a file that `what` says is drawn to it."""
    return typer.Option(help=f"{what} to this file ({', '.join(SUFFIXES)}).", callback=drawable)


def drawable(path: Path | None) -> Path | None:
    """The path as it is. Raises SettingsError for another format, and where matplotlib is not installed."""
    if path is None:
        return None
    from ..evaluation.plots import new_figure  # noqa: PLC0415  only wanted with a plot

    if path.suffix.lower() not in SUFFIXES:
        raise SettingsError(f"--plot {path}: name a file that ends in {', '.join(SUFFIXES)}")
    new_figure(1.0)
    return path
