"""`sufficit contrasts grow`: a scorer as evidence sets grow."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..console import err, print_json
from ..settings import load
from .bars import RecordBars
from .report import Markdown, Plot, print_grids, say_short, say_unpaired, write_markdown
from .score import AtOnce, EntailmentModel, Files, Groups, Heads, Model, ScorerName, Seed, Template
from .settings import AsJson, Assignments, ConfigFile


def grow(
    files: Files,
    scorer: ScorerName,
    folder: Annotated[Path, typer.Option("--out", help="Folder of one file of scores for each count.")],
    groups: Groups = None,
    seed: Seed = 17,
    at_once: AtOnce = 1,
    model: Model = None,
    entailment: EntailmentModel = None,
    heads: Heads = None,
    template: Template = None,
    markdown: Markdown = None,
    plot: Plot = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Accuracy with 0, 5, 10, 15 and 20 shared passages added to both sides, in BM25 order."""
    # torch is loaded here, so that the other commands start fast.
    from ..evaluation.contrasts.additions import COUNTS  # noqa: PLC0415
    from ..evaluation.contrasts.comparison import compare  # noqa: PLC0415
    from ..evaluation.contrasts.growth import score_grown  # noqa: PLC0415
    from ..evaluation.contrasts.scorers import ScorerOptions, build_scorer  # noqa: PLC0415
    from ..evaluation.contrasts.scores import read_scores  # noqa: PLC0415
    from ..evaluation.contrasts.scoring import read_contrasts, sampled  # noqa: PLC0415
    from ..evaluation.grids import accuracy_grid, difference_grids  # noqa: PLC0415
    from ..evaluation.plots import plot_comparison  # noqa: PLC0415

    settings = load(assignments or (), config).settings
    paired, unpaired = read_contrasts(files)
    say_unpaired(unpaired)
    records = sampled(paired, groups, seed)
    with err.status("loading models"):
        built = build_scorer(scorer, settings, ScorerOptions(model, entailment, heads, template))
    with RecordBars() as bars:
        grown = asyncio.run(
            score_grown(records, built.scorer, built.header(at_once=at_once), folder, bars.show, seed=seed)
        )
    for made, fewest in grown.fewest.items():
        say_short(*made, fewest, max(COUNTS))
    comparison = compare(read_scores(grown.paths))
    grids = [
        accuracy_grid(comparison, "Accuracy as shared passages are added"),
        *difference_grids(comparison.differences),
    ]
    write_markdown(markdown, "Growing evidence", grids)
    if plot:
        plot_comparison(comparison, plot)
    if as_json:
        print_json(asdict(comparison))
    else:
        print_grids(grids)
