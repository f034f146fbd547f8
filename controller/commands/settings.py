"""`sufficit settings`: the effective settings, and where each came from."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ..console import out, print_json
from ..settings import flat, load

Assignments = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Set one setting; may be repeated.")
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="Settings file instead of sufficit.toml.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


def settings(assignments: Assignments = None, config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Print the effective settings and the origin of each."""
    loaded = load(assignments or (), config)
    rows = [(key, value, _origin(key, loaded.origins)) for key, value in flat(loaded.settings).items()]
    if as_json:
        print_json({key: {"value": value, "origin": origin} for key, value, origin in rows})
        return
    table = Table("setting", "value", "from", box=None, pad_edge=False)
    for column in table.columns:
        column.overflow = "fold"
    for key, value, origin in rows:
        table.add_row(key, _readable(value), origin)
    out.print(table)


def _origin(key: str, origins: Any) -> str:
    return next((origin for known, origin in origins.items() if key == known), "default")


def _readable(value: Any) -> str:
    return repr(value).replace("[", r"\[") if isinstance(value, str | list) else str(value)
