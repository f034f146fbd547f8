"""Where words go: results to stdout, everything else to stderr."""

import json
from typing import Any

import pydantic_core
import typer
from rich.console import Console

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def complain(message: str) -> None:
    """One error, on stderr, without markup: messages may hold brackets."""
    err.print("error:", style="bold red", end=" ")
    err.print(message, markup=False, soft_wrap=True)


def say(text: str) -> None:
    """A line on stdout; control characters, which could command a terminal, are shown as dots."""
    shown = "".join(c if c.isprintable() or c == "\n" else "·" for c in text)
    out.print(shown, markup=False, emoji=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON value on stdout: infinities as strings, characters a terminal cannot encode escaped."""
    plain = pydantic_core.from_json(pydantic_core.to_json(value, inf_nan_mode="strings"))
    typer.echo(json.dumps(plain, ensure_ascii=True))
