"""`sufficit contrasts report`: scorers side by side."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len
from rich.table import Table

from ...tools.errors import StorageError
from ..console import err, out, print_json
from ..report import plain
from .drawing import plot_option
from .settings import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..evaluation.grids import Grid

ScoreFiles = Annotated[list[Path], typer.Argument(help="Files that `contrasts score` wrote.")]
Reference = Annotated[
    str | None, typer.Option(help="Label that the others are compared with; by default the first.")
]
WHOLE = 24
"""Words of this width are never broken in a table."""
Markdown = Annotated[Path | None, typer.Option(help="Also write the tables to this Markdown file.")]
Plot = Annotated[Path | None, plot_option("Also draw accuracies")]


def report(
    scores: ScoreFiles,
    reference: Reference = None,
    markdown: Markdown = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Pairwise accuracy by set, average and minimum, paired differences, latency."""
    from ..evaluation.contrasts.comparison import compare  # noqa: PLC0415  numpy and pydantic models, only wanted here
    from ..evaluation.contrasts.scores import read_scores  # noqa: PLC0415
    from ..evaluation.grids import comparison_grids  # noqa: PLC0415
    from ..evaluation.plots import plot_comparison  # noqa: PLC0415

    comparison = compare(read_scores(scores), reference)
    grids = comparison_grids(comparison)
    write_markdown(markdown, "Scorers", grids)
    if plot:
        plot_comparison(comparison, plot)
    if as_json:
        print_json(asdict(comparison))
    else:
        print_grids(grids)


def say_unpaired(count: int) -> None:
    """On stderr, how many records are left out since their group holds one label only."""
    if count:
        err.print(f"left out {count:,} records of groups with one label only")


def say_short(family: str, construction: str, fewest: int, wanted: int) -> None:
    """On stderr, that some groups of a set got fewer passages than were to be added."""
    if fewest < wanted:
        err.print(f"{family} {construction}: some groups got {fewest} of {wanted} passages, all there were")


def print_grids(grids: "Sequence[Grid]") -> None:
    """Tables on stdout, each under its title."""
    for grid in grids:
        out.print(f"\n{grid.title}", style="bold", markup=False, soft_wrap=True)
        # A narrow terminal breaks cells before names, and no number: lines may become longer than it.
        names, *columns = zip(grid.header, *grid.rows, strict=True)
        fewest = [max(cell_len(plain(name)) for name in names), *map(_longest, columns)]
        table = Table(box=None, pad_edge=False)
        for place, (name, width) in enumerate(zip(grid.header, fewest, strict=True)):
            table.add_column(_plain(name), no_wrap=not place, min_width=width, overflow="fold")
        for row in grid.rows:
            table.add_row(*map(_plain, row))
        needed = sum(fewest) + 2 * len(fewest)
        table.width = needed if needed > out.width else None
        out.print(table, crop=False, no_wrap=True, overflow="ignore")


def _longest(cells: "Sequence[str]") -> int:
    """Width of the longest word, but for words so long, as are addresses, that they may be broken."""
    return min(WHOLE, max((cell_len(word) for cell in cells for word in plain(cell).split()), default=0))


def _plain(cell: str) -> str:
    return plain(cell).replace("[", r"\[")


def write_markdown(
    path: Path | None, title: str, grids: "Sequence[Grid]", notes: "Sequence[str]" = ()
) -> None:
    """The tables and what is to be said of them as one Markdown page, whole or not at all; nothing where no
    path is given.
    """
    from ..evaluation.grids import markdown  # noqa: PLC0415

    if path is None:
        return
    scratch = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(markdown(title, grids) + "".join(f"\n{note}\n" for note in notes), "utf-8")
        scratch.replace(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}; choose another place") from error
