"""`sufficit contrasts score`: what one scorer says of every record."""

import asyncio
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..console import err, out, print_json
from ..settings import load
from .bars import RecordBars
from .report import say_unpaired
from .settings import AsJson, Assignments, ConfigFile

Files = Annotated[list[Path], typer.Argument(help="Files of contrast records.")]
ScorerName = Annotated[str, typer.Option(help="rinse, or a method that it is compared with.")]
Groups = Annotated[
    int | None, typer.Option(min=1, help="Groups of every family and construction; by default all.")
]
Seed = Annotated[int, typer.Option(help="Seed of the sample.")]
AtOnce = Annotated[int, typer.Option(min=1, help="Records in flight; 1 measures the latency of one alone.")]
Model = Annotated[str | None, typer.Option(help="Model of the scorer, in place of the settings'.")]
EntailmentModel = Annotated[
    str | None, typer.Option("--entailment", help="Entailment classifier; without it the generator is asked.")
]
Heads = Annotated[Path | None, typer.Option(help="Folder of UAR's four classifiers.")]
Template = Annotated[Path | None, typer.Option(help="File with another wording of the scorer's prompt.")]
Label = Annotated[str | None, typer.Option(help="Name of these scores in reports; by default the scorer's.")]


def score(
    files: Files,
    scorer: ScorerName,
    path: Annotated[Path, typer.Option("--out", help="File of scores; an interrupted one is gone on with.")],
    label: Label = None,
    groups: Groups = None,
    seed: Seed = 17,
    at_once: AtOnce = 1,
    model: Model = None,
    entailment: EntailmentModel = None,
    heads: Heads = None,
    template: Template = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Score records and write one row a record, each durable. A killed run goes on where it was."""
    # torch is loaded here, so that the other commands start fast.
    from ..evaluation.contrasts.scorers import ScorerOptions, build_scorer  # noqa: PLC0415
    from ..evaluation.contrasts.scoring import keyed, read_contrasts, sampled, score_records  # noqa: PLC0415

    settings = load(assignments or (), config).settings
    records, unpaired = read_contrasts(files)
    say_unpaired(unpaired)
    drawn = sampled(records, groups, seed)
    chosen = keyed(drawn)
    repeated = len(drawn) - len(chosen)
    if repeated:
        err.print(f"left out {repeated:,} records that are there already")
    with err.status("loading models"):
        built = build_scorer(scorer, settings, ScorerOptions(model, entailment, heads, template))
    header = built.header(label, at_once)
    with RecordBars() as bars:
        rows = asyncio.run(
            score_records(chosen, built.scorer, header, path, partial(bars.show, header.label))
        )
    reasons = dict(Counter(row.skipped for row in rows if row.skipped).most_common())
    notes = dict(Counter(row.note for row in rows if row.note).most_common())
    summary = {
        "out": str(path),
        "records": len(rows),
        "skipped": reasons,
        "notes": notes,
        "unpaired": unpaired,
        "repeated": repeated,
    }
    if as_json:
        print_json(summary)
        return
    out.print(f"{len(rows) - sum(reasons.values())} of {len(rows)} records scored: {path}", soft_wrap=True)
    for reason, count in reasons.items():
        out.print(f"skipped {count}: {reason}", markup=False, soft_wrap=True)
    for note, count in notes.items():
        out.print(f"noted {count}: {note}", markup=False, soft_wrap=True)
