"""`sufficit contrasts ablate`: every subset of RINSE's readers."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...tools.errors import InputError
from ..console import print_json
from .report import Markdown, Plot, Reference, ScoreFiles, print_grids, write_markdown
from .settings import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..evaluation.contrasts.scores import ScoreTable


def ablate(
    scores: ScoreFiles,
    against: Annotated[
        list[Path] | None,
        typer.Option(help="Scores of other scorers, to stand beside the subsets. Repeatable."),
    ] = None,
    reference: Reference = None,
    markdown: Markdown = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Pairwise accuracy of every subset of readers, from the scores of one pass of `contrasts score`."""
    from ..evaluation.contrasts.ablation import subsets  # noqa: PLC0415
    from ..evaluation.contrasts.comparison import compare  # noqa: PLC0415
    from ..evaluation.contrasts.scores import read_scores  # noqa: PLC0415
    from ..evaluation.grids import accuracy_grid, difference_grids  # noqa: PLC0415
    from ..evaluation.plots import plot_comparison  # noqa: PLC0415

    tables = [*subsets(_only(read_scores(scores))), *read_scores(against or [])]
    comparison = compare(tables, reference)
    grids = [accuracy_grid(comparison, "Reader ablation"), *difference_grids(comparison.differences)]
    write_markdown(markdown, "Readers", grids)
    if plot:
        plot_comparison(comparison, plot)
    if as_json:
        found = asdict(comparison)
        print_json({key: found[key] for key in ("sets", "overall", "differences")})
    else:
        print_grids(grids)


def _only(tables: "Sequence[ScoreTable]") -> "ScoreTable":
    if len(tables) != 1:
        raise InputError(
            f"an ablation is of one scorer's scores, these are labelled {', '.join(t.label for t in tables)}"
        )
    return tables[0]
