"""`sufficit fit`: from pairs that differ only in support to a RINSE artifact."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from ...tools.errors import UsageError
from ..console import err, out, print_json
from ..settings import load
from .settings import AsJson, Assignments, ConfigFile

if TYPE_CHECKING:
    from ...policies.rinse.artifact import Artifact
    from ...policies.rinse.provenance import Provenance


def fit(
    pairs: Annotated[list[Path], typer.Option("--pairs", help="File of contrast records; may be repeated.")],
    folder: Annotated[Path, typer.Option("--out", help="Folder of the artifact; an old one is replaced.")],
    leave_out: Annotated[
        list[str] | None, typer.Option("--leave-out", help="Family to keep away; may be repeated.")
    ] = None,
    groups: Annotated[
        int | None, typer.Option(min=1, help="Groups a family that are read at all; default: all.")
    ] = None,
    latent_groups: Annotated[
        int, typer.Option(min=0, help="Of these, groups for the latent reader (rinse.encoder); 0: none.")
    ] = 100,
    wording: Annotated[
        list[str] | None,
        typer.Option(help="Wording of the latent reader's prompt; of several, the best is chosen."),
    ] = None,
    alpha: Annotated[
        float, typer.Option(min=0.001, max=0.999, help="Rate of answering on insufficient evidence.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(help="Seed of every sample.")] = 17,
    report: Annotated[
        bool, typer.Option("--report", help="Fit again without each family, and score it.")
    ] = False,
    accuracy: Annotated[
        Path | None,
        typer.Option(help="What `contrasts ablate --json` printed of left-out fits, to be recorded instead."),
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="File of what the models measured; default: in the user's cache.")
    ] = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Fit RINSE on pairs: readers, size correction, answer threshold. A killed fit goes on where it was."""
    # What only a fit needs, torch and scipy among it, is loaded here.
    from ...policies.rinse.artifact import check_place, save_artifact  # noqa: PLC0415
    from ...policies.rinse.latent import prompts_named  # noqa: PLC0415
    from ...policies.rinse.training import FitSettings  # noqa: PLC0415
    from ...tools.models.cache import cache_dir  # noqa: PLC0415
    from ..evaluation.fitting import (  # noqa: PLC0415
        fit_pairs,
        load_backbones,
        read_pairs,
        recorded,
        untaught,
    )
    from ..evaluation.measured import read_accuracies  # noqa: PLC0415

    if accuracy and report:
        raise UsageError("--report measures what --accuracy brings; give one of them")
    # Known before hours of fitting.
    measured = read_accuracies(accuracy) if accuracy else ()
    check_place(folder)
    left_out = leave_out or []
    settings = load(assignments or (), config).settings
    if latent_groups and settings.rinse.encoder is None:
        err.print("without a latent reader: rinse.encoder names no model")
    prompts = prompts_named(wording or ["judge"])
    chosen = FitSettings(prompts, seed, groups, latent_groups, alpha=alpha)
    data = read_pairs(pairs, left_out)
    with err.status("loading models"):
        backbones = load_backbones(settings, latent=latent_groups > 0)
    data = untaught(data, backbones)
    if data.taught:
        reranker = settings.rinse.reranker
        err.print(
            f"left aside: {data.taught} records on whose questions {reranker} was trained", soft_wrap=True
        )
    with _Bars() as bars:
        artifact = fit_pairs(
            data,
            backbones,
            chosen,
            cache or cache_dir() / "features.db",
            left_out,
            report=report,
            progress=bars.show,
        )
    artifact = recorded(artifact, measured) if measured else artifact
    save_artifact(artifact, folder)
    unmeasured = sorted(set(artifact.provenance.families) - {r.family for r in artifact.provenance.accuracy})
    if report and unmeasured:
        err.print(
            f"no accuracy of {', '.join(unmeasured)}: {settings.rinse.reranker} was trained on it.\n"
            "Train one without: sufficit train-reader reranker --leave-out, and fit with rinse.reranker",
            soft_wrap=True,
        )
    if as_json:
        print_json({"folder": str(folder), "skipped": data.skipped, "taught": data.taught} | _plain(artifact))
    else:
        _print(artifact, folder, data.skipped)


class _Bars(Progress):
    """One progress bar for each thing that is measured."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        super().__init__(*columns, console=err)
        self._bars: dict[str, TaskID] = {}

    def show(self, what: str, done: int, total: int) -> None:
        if what not in self._bars:
            self._bars[what] = self.add_task(f"measuring {what}", total=total)
        self.update(self._bars[what], completed=done)


def _plain(artifact: "Artifact") -> dict[str, object]:
    thresholds = {name: value.model_dump(mode="json") for name, value in artifact.thresholds.items()}
    latent = artifact.latent
    return {
        "thresholds": thresholds,
        "layer": latent.layer if latent else None,
        "provenance": artifact.provenance.model_dump(mode="json"),
    }


def _print(artifact: "Artifact", folder: Path, skipped: int) -> None:
    provenance = artifact.provenance
    counts = ", ".join(f"{family} {count}" for family, count in provenance.groups.items())
    out.print(f"fitted on groups of {counts}; skipped {skipped} records without a pair", soft_wrap=True)
    if artifact.latent:
        out.print(f"latent reader: layer {artifact.latent.layer}")
    table = Table("readers", "threshold", "answers insufficient", "answers sufficient", "groups", box=None)
    for name, found in artifact.thresholds.items():
        rates = (f"{found.insufficient_rate:.3f}", f"{found.sufficient_rate:.3f}")
        table.add_row(name, f"{found.value:.3f}", *rates, str(found.groups))
    out.print(table)
    if provenance.accuracy:
        _print_accuracy(provenance)
    out.print(f"artifact: {folder}", soft_wrap=True)


def _print_accuracy(provenance: "Provenance") -> None:
    """Pairwise accuracy on families left out of the fit, then average and minimum over families."""
    from ...policies.rinse.leave_out import summarise  # noqa: PLC0415

    table = Table("left-out family", "construction", "scorer", "accuracy", "95%", "pairs", box=None)
    for row in provenance.accuracy:
        interval = f"{row.low:.3f} to {row.high:.3f}"
        table.add_row(
            row.family, row.construction, row.scorer, f"{row.accuracy:.3f}", interval, str(row.pairs)
        )
    out.print(table)
    totals = Table("scorer", "average", "minimum", box=None)
    for total in summarise(provenance.accuracy):
        totals.add_row(total.scorer, f"{total.average:.3f}", f"{total.minimum:.3f}")
    out.print(totals)
