"""`sufficit contrasts`: paired sufficient and insufficient evidence, and what scorers make of it."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ...policies.rinse.records import write_records
from ..evaluation.contrasts.build import Construction, Contrasts, build_contrasts
from ..evaluation.datasets.sources import Source
from . import ablate, audit, grow, report, score

_NAMED_ROWS = 5

app = typer.Typer(name="contrasts", help="Paired sufficiency contrasts.", no_args_is_help=True)


@app.callback()
def contrasts() -> None:
    """Paired sufficiency contrasts: evidence that suffices beside evidence that does not."""


@app.command()
def build(
    files: Annotated[
        list[Path],
        typer.Argument(help="HotpotQA, 2Wiki, MuSiQue, SQuAD 2.0 or NQ-oracle files."),
    ],
    construction: Annotated[Construction, typer.Option(help="What differs between the two sides.")],
    family: Annotated[str, typer.Option(help="Name of the data set; fits leave out whole families.")],
    out: Annotated[Path, typer.Option(help="Where the records go, one JSON object a line.")],
    groups: Annotated[int | None, typer.Option(min=1, help="Draw this many groups; by default all.")] = None,
    seed: Annotated[int, typer.Option(help="The same files and seed give the same records.")] = 17,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Build contrasts and write them as JSONL: group, family, construction, question, passages, label."""
    built = build_contrasts(files, construction, family, groups=groups, seed=seed)
    write_records(out, built.records)
    if as_json:
        typer.echo(json.dumps(_summary(built, out), indent=2, ensure_ascii=False))
    else:
        _show(built, out)


app.command()(score.score)
app.command()(report.report)
app.command()(audit.audit)
app.command()(grow.grow)
app.command()(ablate.ablate)


def _summary(built: Contrasts, out: Path) -> dict[str, Any]:
    return {
        "out": str(out),
        "groups": built.groups,
        "records": len(built.records),
        "pairs": built.pairs,
        "dropped": dict(built.dropped),
        "sources": [_describe(source) for source in built.sources],
    }


def _describe(source: Source) -> dict[str, Any]:
    return {
        "file": str(source.path),
        "format": source.format,
        "questions": len(source.examples),
        "bad_rows": len(source.bad),
        "first_bad_rows": [{"row": bad.row, "reason": bad.reason} for bad in source.bad[:_NAMED_ROWS]],
    }


def _show(built: Contrasts, out: Path) -> None:
    console = Console(highlight=False)
    table = Table("file", "format", "questions", "bad rows", box=None)
    for source in built.sources:
        table.add_row(str(source.path), source.format, str(len(source.examples)), str(len(source.bad)))
    console.print(table)
    for source in built.sources:
        for bad in source.bad[:_NAMED_ROWS]:
            console.print(f"left out: {source.path}, row {bad.row}: {bad.reason}", markup=False)
    for reason, count in built.dropped.items():
        console.print(f"no group: {reason} ({count})", markup=False)
    console.print(
        f"{built.groups} groups, {len(built.records)} records, {built.pairs} pairs in {out}", markup=False
    )
