"""`sufficit contrasts audit`: what cues other than sufficiency tell."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import err, print_json
from .report import Markdown, print_grids, say_short, say_unpaired, write_markdown
from .score import Files, Groups, Seed
from .settings import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..evaluation.contrasts.audit import ControlledAccuracy, CueAccuracy
    from ..evaluation.grids import Grid


def audit(
    files: Files,
    scores: Annotated[
        list[Path] | None,
        typer.Option(help="Scores of these records: also compare them where a cue is level. Repeatable."),
    ] = None,
    groups: Groups = None,
    seed: Seed = 17,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Accuracy of four cues as shared passages are added, and of scorers on pairs that a cue cannot tell."""
    from ..evaluation.contrasts.audit import audit_cues, controlled_accuracies  # noqa: PLC0415  scipy, only wanted here
    from ..evaluation.contrasts.scores import read_scores  # noqa: PLC0415
    from ..evaluation.contrasts.scoring import by_set, read_contrasts, sampled  # noqa: PLC0415

    records, unpaired = read_contrasts(files)
    say_unpaired(unpaired)
    tables = read_scores(scores or [])
    sets = by_set(sampled(records, groups, seed)).values()
    with err.status("auditing") as status:
        cues = [row for members in sets for row in audit_cues(members, seed=seed, progress=status.update)]
    last = {(row.family, row.construction): row for row in cues if row.fewest is not None}
    for made, row in last.items():
        say_short(*made, row.fewest or 0, row.added or 0)
    controlled = [row for members in sets for row in controlled_accuracies(members, tables)]
    grids = _grids(cues, controlled)
    write_markdown(markdown, "Cue audit", grids)
    if as_json:
        print_json(
            {
                "cues": [asdict(row) for row in cues],
                "controlled": [asdict(row) for row in controlled],
                "unpaired": unpaired,
            }
        )
    else:
        print_grids(grids)


def _grids(cues: "Sequence[CueAccuracy]", controlled: "Sequence[ControlledAccuracy]") -> "list[Grid]":
    from ..evaluation.grids import Grid, ranged  # noqa: PLC0415

    columns = list(dict.fromkeys((row.cue, row.added) for row in cues))
    cells = {(row.family, row.construction, row.cue, row.added): f"{row.accuracy.value:.3f}" for row in cues}
    sets = list(dict.fromkeys((row.family, row.construction) for row in cues))
    pairs = {(row.family, row.construction): str(row.accuracy.pairs) for row in cues}
    header = tuple(cue if added is None else f"{cue} +{added}" for cue, added in columns)
    rows = tuple(
        (f"{family} {name}", pairs[family, name], *(cells[family, name, *column] for column in columns))
        for family, name in sets
    )
    grids = [Grid("Pairwise accuracy of cues (0.5 is chance)", ("set", "pairs", *header), rows)]
    if controlled:
        scorers = list(dict.fromkeys(row.scorer for row in controlled))
        found = {(row.family, row.construction, row.control, row.scorer): row.accuracy for row in controlled}
        names = list(dict.fromkeys((row.family, row.construction, row.control) for row in controlled))
        lines = []
        for name in names:
            accuracies = [found[*name, scorer] for scorer in scorers]
            values = [ranged(accuracy.value, accuracy.low, accuracy.high) for accuracy in accuracies]
            lines.append((f"{name[0]} {name[1]}", name[2], str(accuracies[0].pairs), *values))
        title = "Pairwise accuracy on pairs that are level in a cue"
        grids.append(Grid(title, ("set", "control", "pairs", *scorers), tuple(lines)))
    return grids
