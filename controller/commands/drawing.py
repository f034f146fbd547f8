"""`--plot FILE`: what would keep it from being drawn is said before long work, not after it."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from ...tools.errors import SettingsError

SUFFIXES = (".png", ".svg", ".pdf")


def plot_option(what: str, *names: str) -> Any:
    """The option of a file that `what` says is drawn to it; names as of `typer.Option`."""
    return typer.Option(*names, help=f"{what} to this file ({', '.join(SUFFIXES)}).", callback=drawable)


def drawable(path: Path | None) -> Path | None:
    """The path as it is. Raises SettingsError for another format, and where matplotlib is not installed."""
    if path is None:
        return None
    if path.suffix.lower() not in SUFFIXES:
        raise SettingsError(f"--plot {path}: name a file that ends in {', '.join(SUFFIXES)}")
    if find_spec("matplotlib") is None:
        raise SettingsError("plots need matplotlib\nInstall it: pip install 'sufficit[plots]'")
    return path
