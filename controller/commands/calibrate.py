"""`sufficit calibrate`: answer thresholds, and what each risk of answering on too little evidence buys."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import err, out, print_json, say
from ..settings import Settings, load
from .bars import RecordBars
from .drawing import plot_option
from .report import Markdown, print_grids, write_markdown
from .score import AtOnce, Groups, Seed
from .settings import AsJson, Assignments, ConfigFile

if TYPE_CHECKING:
    from ...policies.rinse.artifact import Artifact
    from ...policies.rinse.provenance import AnswerThreshold
    from ..evaluation.calibration import HeldOut
    from ..evaluation.contrasts.scores import ScoreRow
    from ..evaluation.grids import Grid

ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
Plot = Annotated[Path | None, plot_option("Also draw the rates")]


def calibrate(
    files: Annotated[list[Path], typer.Argument(help="Contrast records; may be several files.")],
    alpha: Annotated[
        float, typer.Option(min=0.001, max=0.999, help="Rate of answering on insufficient evidence to set.")
    ] = 0.2,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Write the artifact with this threshold to a folder.")
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="File of scores; default: in the user's cache. A killed run goes on.")
    ] = None,
    groups: Groups = None,
    seed: Seed = 17,
    at_once: AtOnce = 4,
    markdown: Markdown = None,
    plot: Plot = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Set the answer threshold by conformal risk control on groups that nothing was fitted on.

    Prints, for each risk alpha, the threshold and how much sufficient evidence is still answered.
    """
    from ...policies.rinse.artifact import check_place, save_artifact  # noqa: PLC0415
    from ..evaluation.calibration import hashes, reachable, thresholds, with_threshold  # noqa: PLC0415

    settings = load(assignments or (), config).settings
    if folder:
        # Known before hours of scoring.
        check_place(folder)
    rows, held_out, artifact, readers = _scored(files, settings, scores, groups, seed, at_once)
    found = thresholds(rows, [*reachable(rows, ALPHAS), alpha])
    chosen = next(threshold for threshold in found if threshold.alpha == alpha)
    grid = _grid(found, readers)
    write_markdown(markdown, "Answer thresholds", [grid])
    if plot:
        _draw(found, plot)
    if folder:
        save_artifact(with_threshold(artifact, readers, chosen, hashes(files)), folder)
    skipped = sum(row.score is None for row in rows)
    counts = {"records": len(rows), "skipped": skipped, "seen": held_out.seen, "unpaired": held_out.unpaired}
    if as_json:
        table = [threshold.model_dump(mode="json") for threshold in found]
        chosen_readers = {"readers": sorted(readers), "threshold": chosen.value, "alpha": alpha}
        print_json(chosen_readers | counts | {"table": table, "out": str(folder) if folder else None})
        return
    print_grids([grid])
    out.print(", ".join(f"{name} {count}" for name, count in counts.items()))
    if folder:
        say(f"artifact: {folder}; use it with --set rinse.artifact={folder}")
    else:
        say(f"use it with --set rinse.threshold={chosen.value!r}, or keep it with --out FOLDER")


def _scored(
    files: Sequence[Path],
    settings: Settings,
    scores: Path | None,
    groups: int | None,
    seed: int,
    at_once: int,
) -> tuple[list["ScoreRow"], "HeldOut", "Artifact", frozenset[str]]:
    """Rows of every held-out record, the artifact and the names of the readers that scored."""
    # torch is loaded here.
    from ...policies.scorers.rinse import RinseScorer  # noqa: PLC0415
    from ...tools.models.cache import cache_dir  # noqa: PLC0415
    from ..evaluation.calibration import held_out_records  # noqa: PLC0415
    from ..evaluation.contrasts.scorers import artifact_key, load_rinse  # noqa: PLC0415
    from ..evaluation.contrasts.scores import ScoreHeader  # noqa: PLC0415
    from ..evaluation.contrasts.scoring import keyed, sampled, score_records  # noqa: PLC0415
    from ..evaluation.readers.lessons import lessons  # noqa: PLC0415

    with err.status("loading models"):
        rinse, artifact, _ = load_rinse(settings)
    held_out = held_out_records(files, artifact, lessons(settings.rinse).values())
    readers = rinse.readers
    name, key = "+".join(sorted(readers)), artifact_key(artifact)
    header = ScoreHeader(label=name, scorer="rinse", models={"artifact": key}, at_once=at_once)
    path = scores or cache_dir() / "calibrations" / f"{key}-{name}-{at_once}.jsonl"
    chosen = keyed(sampled(held_out.records, groups, seed))
    with RecordBars() as bars:
        scoring = score_records(chosen, RinseScorer(rinse), header, path, partial(bars.show, "scoring"))
        rows = asyncio.run(scoring)
    return rows, held_out, artifact, readers


def _grid(found: Sequence["AnswerThreshold"], readers: frozenset[str]) -> "Grid":
    from ..evaluation.grids import Grid  # noqa: PLC0415

    rows = tuple(
        (
            f"{one.alpha:g}",
            f"{one.value:.3f}",
            f"{one.insufficient_rate:.3f}",
            f"{one.sufficient_rate:.3f}",
            str(one.groups),
        )
        for one in found
    )
    header = ("alpha", "threshold", "answers insufficient", "answers sufficient", "groups")
    return Grid(f"Answer thresholds of {' + '.join(sorted(readers))}", header, rows)


def _draw(found: Sequence["AnswerThreshold"], path: Path) -> None:
    from ..evaluation.plots import plot_lines  # noqa: PLC0415

    lines = {
        "answers sufficient": [(one.alpha, one.sufficient_rate) for one in found],
        "answers insufficient": [(one.alpha, one.insufficient_rate) for one in found],
    }
    plot_lines(lines, "alpha", "rate of answering", path)
