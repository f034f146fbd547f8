"""`sufficit index`: make an index of a corpus, change it, look into it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from ...tools.errors import InputError
from ...tools.retrievers.corpora.reading import CorpusReading, read_corpus
from ...tools.retrievers.corpus_index import BuildReport
from ...tools.retrievers.opening import Kind, build_index, open_for_writing
from ...tools.types import Passage
from .. import console
from ..settings import load
from .index_eval import Searched, evaluate_index, retriever_of

app = typer.Typer(name="index", help="Make and change the index of a corpus.", no_args_is_help=True)
app.command("eval")(evaluate_index)

_SHOWN_PROBLEMS = 10
_SHOWN_CHARACTERS = 300

Corpus = Annotated[
    list[Path],
    typer.Argument(help="JSON Lines files (also .gz), .txt, .md or .html files, or folders of the latter."),
]
Where = Annotated[
    Path | None,
    typer.Option("--index", metavar="DIR", help="Folder of the index; else the setting index.path."),
]
Root = Annotated[
    Path | None,
    typer.Option(
        help="Folder that sources of files are named from; else the one that holds all that is given."
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at the first problem; the index stays as it was.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON value on stdout.")]


@app.command()
def build(
    corpus: Corpus,
    index: Where = None,
    kind: Annotated[Kind, typer.Option(help="What stores and finds the passages.")] = "embedded",
    model: Annotated[
        str | None, typer.Option(help="Encoder of a dense index: a catalogue name, folder or hub name.")
    ] = None,
    root: Root = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Make the index anew; the old one stays until the new one is whole."""
    if model is not None and kind != "dense":
        raise InputError(f"An index of kind {kind} has no model.\nLeave --model out, or add --kind dense.")
    path = _path(index)
    reading = read_corpus(corpus, strict=strict, root=root)
    with _progress(reading) as advance:
        report = build_index(kind, path, reading, advance, model)
    _show_report("Built", path, reading, report, as_json)


@app.command()
def add(
    corpus: Corpus, index: Where = None, root: Root = None, strict: Strict = False, as_json: Json = False
) -> None:
    """Add documents; one that is there already is replaced as a whole."""
    path = _path(index)
    reading = read_corpus(corpus, strict=strict, root=root)
    opened = open_for_writing(path)
    with _progress(reading) as advance:
        report = opened.replace(reading, advance)
    _show_report("Added to", path, reading, report, as_json)


@app.command()
def delete(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="Sources, as search shows them.")],
    index: Where = None,
    as_json: Json = False,
) -> None:
    """Delete all passages of the documents named."""
    path = _path(index)
    opened = open_for_writing(path)
    deleted = asyncio.run(opened.delete_sources(sources))
    left = asyncio.run(opened.count())
    if as_json:
        console.print_json({"index": str(path), "deleted": deleted, "passages": left})
    else:
        console.say(f"Deleted {_passages(deleted)}; {_passages(left)} left in {path}.")


@app.command()
def sweep(index: Where = None, as_json: Json = False) -> None:
    """Delete what was kept from the web and has expired; every write to the index does so too."""
    path = _path(index)
    opened = open_for_writing(path)
    swept = opened.sweep()
    left = asyncio.run(opened.count())
    if as_json:
        console.print_json({"index": str(path), "deleted": swept, "passages": left})
    else:
        console.say(f"Deleted {_passages(swept)}; {_passages(left)} left in {path}.")


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="Words to find; there is no query syntax.")],
    index: Searched = None,
    k: Annotated[int, typer.Option("-k", min=1, max=10_000, help="Passages at most.")] = 10,
    as_json: Json = False,
) -> None:
    """Show the passages that match best."""
    if not query.strip():
        raise InputError("The query is empty.\nGive the words to find.")
    found = asyncio.run(retriever_of(index).search(query, k))
    if as_json:
        console.print_json([{**asdict(passage), "metadata": dict(passage.metadata)} for passage in found])
        return
    if not found:
        console.say("Nothing found: no passage holds a word of the query other than stop words.")
    for rank, passage in enumerate(found, 1):
        _show_passage(rank, passage)


@app.command()
def info(index: Where = None, as_json: Json = False) -> None:
    """Show what the index holds and what it was made with."""
    path = _path(index)
    facts = open_for_writing(path).info()
    shown: dict[str, Any] = {
        "index": str(path),
        "passages": facts.passages,
        "expired": facts.expired,
        "bytes": facts.size,
        **facts.parts,
        **facts.manifest.flat(),
    }
    if as_json:
        console.print_json(shown)
        return
    for name, value in shown.items():
        console.say(
            f"{name.replace('_', ' '):18} {value:,}" if isinstance(value, int) else f"{name:18} {value}"
        )


def _path(given: Path | None) -> Path:
    return given if given is not None else load().settings.index.path


@contextmanager
def _progress(reading: CorpusReading) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of the corpus, on stderr, if that is a terminal."""
    columns = (
        SpinnerColumn(),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[passages]:,} passages"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console.err, disable=not console.err.is_terminal, transient=True) as bar:
        task = bar.add_task("", total=reading.bytes_total, passages=0)
        yield lambda passages: bar.update(task, completed=reading.bytes_read, passages=passages)


def _show_report(done: str, path: Path, reading: CorpusReading, report: BuildReport, as_json: bool) -> None:
    problems = reading.problems
    if as_json:
        shown = {"index": str(path), "documents": reading.documents, **asdict(report)}
        shown |= {"problems": problems.counts, "first_problems": [asdict(p) for p in problems.first]}
        console.print_json(shown)
        return
    console.say(
        f"{done} {path}: read {_passages(report.read)} of {reading.documents:,} documents "
        f"in {report.seconds:.1f} s; the index holds {report.passages:,}."
    )
    if not problems:
        return
    counts = ", ".join(f"{count:,} {kind}" for kind, count in problems.counts.items() if count)
    console.say(f"Problems: {counts}.")
    for problem in problems.first[:_SHOWN_PROBLEMS]:
        console.say(f"  {problem}")
    if len(problems) > _SHOWN_PROBLEMS:
        console.say(
            f"  and {len(problems) - _SHOWN_PROBLEMS:,} more; --json names the first {len(problems.first):,}."
        )


def _show_passage(rank: int, passage: Passage) -> None:
    text = " ".join(passage.text.split())
    shown = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + " …"
    title = " ".join(passage.title.split()) or passage.source
    console.say(f"{rank}. {title}  [{passage.source} · {passage.id} · {passage.score:.2f}]")
    console.say(f"   {shown}\n")


def _passages(count: int) -> str:
    return f"{count:,} passage" if count == 1 else f"{count:,} passages"
