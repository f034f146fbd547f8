"""`sufficit gate`: RINSE in front of a generator that may decline."""

import asyncio
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import err, print_json
from ..settings import load
from .bars import RecordBars
from .report import Markdown, print_grids, say_unpaired, write_markdown
from .score import Files, Seed
from .settings import AsJson, Assignments, ConfigFile

if TYPE_CHECKING:
    from ..evaluation.contrasts.gating import GateResult
    from ..evaluation.grids import Grid


def gate(
    files: Files,
    path: Annotated[
        Path, typer.Option("--out", help="File of outcomes; an interrupted one is gone on with.")
    ],
    records: Annotated[int, typer.Option(min=1, help="Sufficient and insufficient records, each.")] = 300,
    seed: Seed = 17,
    markdown: Markdown = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """How often a generator answers what it should not, with RINSE in front of it and without."""
    # torch is loaded here, so that the other commands start fast.
    from ..evaluation.contrasts.gating import Gate, GateHeader, balanced_sample, gate_result, run_gate  # noqa: PLC0415
    from ..evaluation.contrasts.scorers import artifact_key, load_rinse  # noqa: PLC0415
    from ..evaluation.contrasts.scoring import keyed, read_contrasts  # noqa: PLC0415
    from ..loading import load_model  # noqa: PLC0415

    settings = load(assignments or (), config).settings
    contrasts, unpaired = read_contrasts(files)
    say_unpaired(unpaired)
    chosen = keyed(balanced_sample(contrasts, records, seed))
    with err.status("loading models"):
        generator = load_model(settings.generator.model, settings.generator)
        rinse, artifact, fitted_on = load_rinse(settings)
    header = GateHeader(
        generator=f"{settings.generator.model} {generator.fingerprint[:16]}",
        artifact=artifact_key(artifact),
        rinse=settings.rinse.model_dump_json(),
    )
    with RecordBars() as bars:
        rows = asyncio.run(run_gate(chosen, Gate(generator, rinse), header, path, partial(bars.show, "gate")))
    result = gate_result(rows)
    seen = sorted({row.family for row in rows} & set(fitted_on))
    grids = _grids(result, seen)
    write_markdown(markdown, "RINSE as a gate", grids)
    if as_json:
        print_json(asdict(result) | {"fitted_on": seen, "out": str(path)})
    else:
        print_grids(grids)


def _grids(result: "GateResult", seen: list[str]) -> "list[Grid]":
    from ..evaluation.grids import Grid  # noqa: PLC0415

    table = Grid(
        "Answered without and with the gate" + (f"; RINSE was fitted on {', '.join(seen)}" if seen else ""),
        (
            "evidence",
            "records",
            "answered",
            "passed by the gate",
            "answered with the gate",
            "refused with it",
        ),
        tuple(
            (name, str(r.records), *(f"{x:.3f}" for x in (r.answered, r.passed, r.answered_gated, r.refused)))
            for name, r in (("insufficient", result.insufficient), ("sufficient", result.sufficient))
        ),
    )
    times = Grid(
        "Time",
        ("measure", "value"),
        (
            ("generator, median", f"{result.generator_p50:.1f} ms"),
            ("gate, median", f"{result.gate_p50:.1f} ms"),
            ("generation time saved", f"{result.saved:.1%}"),
            ("saved, less the gate's own time", f"{result.saved_net:.1%}"),
        ),
    )
    skipped = tuple((reason, str(count)) for reason, count in result.skipped.items())
    return [table, times, *([Grid("Skipped", ("reason", "records"), skipped)] if skipped else [])]
