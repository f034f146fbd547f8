"""`sufficit eval cache`: the cache node against similarity caches on a stream; `build` makes a stream."""

import asyncio
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ...tools.errors import InputError
from ..console import err, out, print_json
from ..settings import load
from .bars import RecordBars
from .drawing import plot_option
from .report import Markdown, print_grids, write_markdown
from .settings import AsJson, Assignments, ConfigFile

app = typer.Typer(name="cache", help="The cache node against similarity caches.", invoke_without_command=True)

Stream = Annotated[Path | None, typer.Option("--stream", help="Stream of questions, one JSON object a line.")]
Rows = Annotated[Path | None, typer.Option("--out", help="File of outcomes; a killed run goes on with it.")]
Plot = Annotated[Path | None, plot_option("Draw wrong hits against fetches saved")]


@app.callback()
def cache(
    context: typer.Context,
    stream: Stream = None,
    path: Rows = None,
    passages: Annotated[int, typer.Option(min=1, max=200, help="Passages looked up for a question.")] = 8,
    levels: Annotated[int, typer.Option(min=2, max=200, help="Thresholds of RINSE alone.")] = 12,
    plot: Plot = None,
    markdown: Markdown = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Replay a stream against the decision by what passages were kept for, the cache node, RINSE alone, exact
    match, and cosines of questions and of passages.

    A hit is wrong if the passages served lack the annotated support, or hold it out of date; what every hit
    saves is one fetch.
    """
    if context.invoked_subcommand is not None:
        return
    if stream is None or path is None:
        raise InputError("name the stream by --stream and the file of outcomes by --out")
    # torch is loaded here, so that the other commands start fast.
    from ..evaluation.caching.bench import load_bench  # noqa: PLC0415
    from ..evaluation.caching.plot import plot_caching  # noqa: PLC0415
    from ..evaluation.caching.report import caching_grids, caching_report  # noqa: PLC0415
    from ..evaluation.caching.run import run_stream  # noqa: PLC0415
    from ..evaluation.caching.stream import read_stream  # noqa: PLC0415

    events = read_stream(stream)
    settings = load(assignments or (), config).settings
    with err.status("loading models and encoding the stream"):
        loaded = asyncio.run(load_bench(settings, events, passages, levels))
    with RecordBars() as bars:
        show = partial(bars.show, "replays")
        rows = asyncio.run(run_stream(loaded.plan, events, loaded.header, path, show))
    report = caching_report(events, rows)
    grids = caching_grids(report)
    write_markdown(markdown, "Caches", grids)
    if plot:
        plot_caching(report, plot)
    if as_json:
        print_json(asdict(report) | {"out": str(path)})
    else:
        print_grids(grids)


@app.command()
def build(
    files: Annotated[
        list[Path], typer.Argument(help="HotpotQA, 2Wiki, MuSiQue, SQuAD 2.0 or NQ-oracle files.")
    ],
    path: Annotated[Path, typer.Option("--out", help="Where the stream goes, one JSON object a line.")],
    count: Annotated[int, typer.Option("--events", min=1, help="Questions that arrive.")] = 1000,
    days: Annotated[float, typer.Option(min=0.01, max=3650, help="Length of the stream.")] = 7.0,
    passages: Annotated[int, typer.Option(min=1, max=100, help="Passages that one fetch brings.")] = 5,
    seed: Annotated[int, typer.Option(help="The same files and seed give the same stream.")] = 17,
    as_json: AsJson = False,
) -> None:
    """Make a stream of first questions, repeats, paraphrases, siblings, near misses, and expiries."""
    from ..evaluation.caching.building import Recipe, build_stream, kinds  # noqa: PLC0415
    from ..evaluation.caching.stream import write_stream  # noqa: PLC0415
    from ..evaluation.datasets.sources import read_source  # noqa: PLC0415

    sources = [read_source(file) for file in files]
    recipe = Recipe(events=count, seed=seed, seconds=days * 86_400, passages=passages)
    events = build_stream([source.examples for source in sources], recipe)
    write_stream(path, events)
    counts = kinds(events)
    if as_json:
        print_json({"out": str(path), "events": len(events), "kinds": counts})
        return
    for source in sources:
        if source.bad:
            err.print(f"left out {len(source.bad)} bad rows of {source.path}", markup=False)
    named = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))
    out.print(f"{len(events)} events in {path}: {named}", markup=False)
