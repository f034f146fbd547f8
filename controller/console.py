"""Where words go: results to stdout, everything else to stderr."""

import json
from typing import Any

import typer
from rich.console import Console

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def complain(message: str) -> None:
    """One error, on stderr, without markup: messages may hold brackets."""
    err.print("error:", style="bold red", end=" ")
    err.print(message, markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON value on stdout; characters a terminal cannot encode are escaped."""
    typer.echo(json.dumps(value, ensure_ascii=True))
