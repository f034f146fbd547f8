"""`sufficit eval compare`, `explain` and `report`: what came of runs, and which differences are real."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..console import out, print_json
from .report import Markdown, print_grids, write_markdown
from .settings import AsJson

Side = Annotated[Path, typer.Argument(help="A run's folder, or FOLDER/CONFIGURATION.")]
Examples = Annotated[int, typer.Option(min=0, help="Show the ids of this many failures of each group.")]


def compare(first: Side, second: Side, markdown: Markdown = None, as_json: AsJson = False) -> None:
    """SECOND less FIRST on common questions, with intervals: quality, risk at equal coverage, cost.

    Two folders are compared by configurations of equal names.
    """
    from ..evaluation.runs.choosing import compare_paths  # noqa: PLC0415  numpy, only wanted here
    from ..evaluation.runs.tables import READING, difference_grid  # noqa: PLC0415

    comparisons = compare_paths(first, second)
    grids = [difference_grid(comparison) for comparison in comparisons]
    write_markdown(markdown, f"{second} less {first}", grids, READING)
    if as_json:
        print_json([asdict(comparison) for comparison in comparisons])
    else:
        print_grids(grids)
        out.print("\n" + "\n".join(READING), markup=False, highlight=False)


def explain(run: Side, examples: Examples = 5, as_json: AsJson = False) -> None:
    """Group the failures of RUN by their nearest cause; every failure is in exactly one group."""
    from ..evaluation.runs.choosing import chosen  # noqa: PLC0415
    from ..evaluation.runs.failures import explain as explain_rows  # noqa: PLC0415
    from ..evaluation.runs.tables import explanation_grid  # noqa: PLC0415

    reports = [explain_rows(name, rows, examples) for name, rows in chosen(run).rows.items()]
    if as_json:
        print_json([asdict(report) for report in reports])
    else:
        print_grids([explanation_grid(report) for report in reports])


def report(
    folder: Annotated[Path, typer.Argument(help="A run's folder.")],
    as_json: AsJson = False,
) -> None:
    """Write report.json, report.md and report.html of the run in FOLDER anew, and print the tables."""
    from ..evaluation.runs.report_files import report_json, write_report  # noqa: PLC0415
    from ..evaluation.runs.tables import report_grids  # noqa: PLC0415

    written = write_report(folder)
    if as_json:
        typer.echo(report_json(written).decode(), nl=False)
        return
    print_grids(report_grids(written))
    out.print(f"\nwritten: {folder / 'report.html'}, report.md and report.json beside it", markup=False)
