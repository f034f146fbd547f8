"""`sufficit arbitrate`: TrustMargin over the answers of another RAG pipeline, and again without a model."""

import asyncio
import math
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ...tools.errors import InputError
from ..console import err, out, print_json, say
from ..settings import load
from .bars import RecordBars
from .report import print_grids
from .settings import AsJson, Assignments, ConfigFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..evaluation.arbitration.cases import Cases
    from ..evaluation.arbitration.rows import ArbitrationRow
    from ..evaluation.arbitration.summary import Change
    from ..settings import Settings

SHOWN = 40


class RunUnlessNamed(TyperGroup):
    """A group whose command `run` needs no name: `arbitrate FILE` is `arbitrate run FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As a group does, with `run` put in front of what names no command and asks for no help."""
        named = not args or args[0] in self.commands or args[0] in ctx.help_option_names
        return super().parse_args(ctx, args if named else ["run", *args])


app = typer.Typer(
    name="arbitrate",
    cls=RunUnlessNamed,
    help="Choose between closed-book and RAG answers (TrustMargin).",
    no_args_is_help=True,
)

CaseFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="JSON Lines or JSON, also .gz, of {question, passages, direct, rag}; FlashRAG's, HotpotQA's and "
        "TrustMargin's files too.",
    ),
]
RowPath = Annotated[
    Path, typer.Option("--out", help="File of verdicts, a row a question; a killed run goes on with it.")
]
Rows = Annotated[Path, typer.Argument(metavar="FILE", help="A file of verdicts.")]


@app.command("run")
def run(
    file: CaseFile,
    path: RowPath,
    at_once: Annotated[int, typer.Option(min=1, help="Questions that run concurrently.")] = 1,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Judge the answers in FILE, the default command; answers that it lacks are written first."""
    from ..evaluation.arbitration.cases import read_cases  # noqa: PLC0415  heavy, only wanted here
    from ..evaluation.arbitration.summary import summarise, summary_grids  # noqa: PLC0415

    settings = load(assignments or (), config).settings
    cases = read_cases(file)
    err.print(f"{file}: {cases.format} format, {len(cases.cases)} questions", markup=False, soft_wrap=True)
    rows = _run(settings, cases, path, at_once)
    summary = summarise(rows, settings.trustmargin.weight, settings.trustmargin.tau)
    if as_json:
        print_json(asdict(summary) | {"format": cases.format, "out": str(path)})
    else:
        print_grids(summary_grids(summary))


def _run(settings: "Settings", cases: "Cases", path: Path, at_once: int) -> "Sequence[ArbitrationRow]":
    from ..evaluation.arbitration.run import load_arbitration, run_cases  # noqa: PLC0415  loads torch

    with err.status("loading the generator"):
        bench, header = load_arbitration(settings, cases, at_once)
    with RecordBars() as bars:
        return asyncio.run(run_cases(bench, cases.cases, header, path, partial(bars.show, "questions")))


@app.command("replay")
def replay(
    file: Rows,
    weight: Annotated[
        float | None, typer.Option("--lambda", min=0.0, help="Weight of M_bind; by default as recorded.")
    ] = None,
    tau: Annotated[
        float | None, typer.Option("--tau", help="Threshold on M; by default as recorded.")
    ] = None,
    path: Annotated[Path | None, typer.Option("--out", help="Write the new verdicts to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Decide every row of FILE again, without any model, by other settings of lambda and tau."""
    from ..evaluation.arbitration.rows import plain_rows, read_rows, write_rows  # noqa: PLC0415
    from ..evaluation.arbitration.summary import replayed, summarise, summary_grids  # noqa: PLC0415

    header, recorded = read_rows(file)
    used = header.trustmargin
    weight, tau = used.weight if weight is None else weight, used.tau if tau is None else tau
    if not math.isfinite(weight) or not math.isfinite(tau):
        raise InputError("--lambda and --tau must be finite numbers")
    again, _ = replayed(recorded, weight, tau, used.tie_band)
    plain, changes = replayed(plain_rows(recorded), weight, tau, used.tie_band)
    if not plain:
        raise InputError(f"{file} holds no row of a plain run yet")
    if path is not None:
        changed = used.model_copy(update={"weight": weight, "tau": tau})
        write_rows(path, header.model_copy(update={"trustmargin": changed}), again)
    summary = summarise(plain, weight, tau)
    if as_json:
        print_json(asdict(summary) | {"changed": [asdict(change) for change in changes]})
        return
    print_grids(summary_grids(summary))
    _print_changes(changes)


def _print_changes(changes: "Sequence[Change]") -> None:
    out.print(f"\n{len(changes)} verdicts changed")
    for change in changes[:SHOWN]:
        margin = "" if change.margin is None else f", M {change.margin:+.3f}"
        say(f"{change.id}: {change.recorded} -> {change.now}{margin}")
    if len(changes) > SHOWN:
        out.print(f"and {len(changes) - SHOWN} more; --json lists all")
