"""`sufficit eval show`: one question of a run, readable."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ...tools.errors import InputError
from ..console import out, print_json
from ..report import Report, plain
from ..trace import to_json
from .settings import AsJson

if TYPE_CHECKING:
    from ..evaluation.runs.rows import PredictionRow


def show(
    run: Annotated[Path, typer.Argument(help="A run's folder, or FOLDER/CONFIGURATION.")],
    question: Annotated[str, typer.Argument(metavar="ID", help="The question's id.")],
    as_json: AsJson = False,
) -> None:
    """Show what became of question ID, stage by stage, under every configuration of RUN."""
    from ..evaluation.runs.choosing import chosen  # noqa: PLC0415  numpy, only wanted here
    from ..evaluation.runs.failures import failure_group  # noqa: PLC0415

    picked = chosen(run)
    found = {name: row for name, rows in picked.rows.items() for row in rows if row.id == question}
    if not found:
        raise InputError(f"{run} has no question {question!r}; `sufficit eval explain` names some")
    traces = {name: picked.folder.read_trace(name, question) for name in found}
    groups = {name: failure_group(row) for name, row in found.items()}
    if as_json:
        print_json(
            {
                name: {
                    "row": row.model_dump(mode="json"),
                    "failure": groups[name],
                    "events": [to_json(event) for event in traces[name]],
                }
                for name, row in found.items()
            }
        )
        return
    for name, row in found.items():
        out.rule(escape(plain(name)))
        _print_row(row, groups[name])
        report = Report(out)
        for event in traces[name]:
            report(event)


def _print_row(row: "PredictionRow", failure: str | None) -> None:
    golds = "; ".join(row.answers) if row.answers else "none"
    lines = {"Gold": golds, "Support": "; ".join(row.support or ()), "Failure": failure, "Error": row.error}
    for label, text in lines.items():
        if text:
            out.print(f"{label:<9} {plain(text)}", markup=False, soft_wrap=True)
