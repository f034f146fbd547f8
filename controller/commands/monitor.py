"""`sufficit monitor`: how gains and pass rates ran over recorded questions."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ...tools.errors import InputError, UsageError
from ..console import out, print_json
from ..drift import Drift, DriftReport, Spread, metrics
from ..trace import read_trace
from .settings import AsJson


def monitor(
    traces: Annotated[list[Path], typer.Argument(help="Traces of `ask --trace`, or folders of them.")],
    window: Annotated[int, typer.Option(min=1, help="Questions in a window.")] = 100,
    as_metrics: Annotated[
        bool, typer.Option("--metrics", help="The last window, in the text format that Prometheus reads.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Mean and quantiles of information gain and pass rate, window by window, oldest first."""
    if as_metrics and as_json:
        raise UsageError("--metrics and --json are two formats of the same; choose one")
    files = sorted(_files(traces), key=lambda file: (file.stat().st_mtime_ns, file.name))
    if not files:
        raise InputError("there is no trace (*.jsonl) here; write some with `sufficit ask --trace FILE`")
    if as_metrics:
        typer.echo(metrics(_watch(files[-window:])), nl=False)
        return
    windows = [_watch(files[start : start + window]) for start in range(0, len(files), window)]
    if as_json:
        print_json([asdict(report) for report in windows])
    else:
        out.print(_table(windows))


def _files(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist")
        found += path.glob("*.jsonl") if path.is_dir() else [path]
    # A trace that is named twice, alone and in its folder, is one question.
    return list({path.resolve(): path for path in found}.values())


def _watch(files: Sequence[Path]) -> DriftReport:
    drift = Drift(window=len(files))
    for file in files:
        for event in read_trace(file):
            drift(event)
    return drift.report()


def _table(windows: Iterable[DriftReport]) -> Table:
    heads = ("pruned", "IG mean (p10, p50, p90)", "pass rate", "NU(q)", "empty", "gated", "guarded")
    table = Table(*heads, box=None)
    for report in windows:
        shares = (f"{share:.0%}" for share in (report.empty, report.gated, report.guarded))
        spreads = map(_readable, (report.gain, report.pass_rate, report.baseline))
        table.add_row(str(report.questions), *spreads, *shares)
    return table


def _readable(spread: Spread | None) -> str:
    if spread is None:
        return "none measured"
    return f"{spread.mean:.3f} ({spread.low:.3f}, {spread.median:.3f}, {spread.high:.3f})"
