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
from ...tools.protocols import Retriever
from ...tools.retrievers.corpora.reading import CorpusReading, read_corpus
from ...tools.retrievers.corpus_index import BuildReport
from ...tools.retrievers.opening import Kind, build_index, open_for_writing
from ...tools.retrievers.trec import read_qrels, read_queries, write_run
from ...tools.types import Passage
from .. import console
from ..evaluation.retrieval import evaluate
from ..retrieval import load_retriever
from ..settings import load

app = typer.Typer(name="index", help="Make and change the index of a corpus.", no_args_is_help=True)

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
Searched = Annotated[
    list[Path] | None,
    typer.Option(
        "--index",
        metavar="DIR",
        help="Folder of the index, Anserini's too; several are fused. Else the setting index.path.",
    ),
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
        _say(f"Deleted {_passages(deleted)}; {_passages(left)} left in {path}.")


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
    found = asyncio.run(_retriever(index).search(query, k))
    if as_json:
        console.print_json([{**asdict(passage), "metadata": dict(passage.metadata)} for passage in found])
        return
    if not found:
        _say("Nothing found: no passage holds a word of the query other than stop words.")
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
        "bytes": facts.size,
        **facts.parts,
        **facts.manifest.flat(),
    }
    if as_json:
        console.print_json(shown)
        return
    for name, value in shown.items():
        _say(f"{name.replace('_', ' '):18} {value:,}" if isinstance(value, int) else f"{name:18} {value}")


@app.command("eval")
def evaluate_index(
    queries: Annotated[Path, typer.Option(help="Questions in BEIR's JSON Lines.")],
    qrels: Annotated[Path, typer.Option(help="Judgements in BEIR's columns or TREC's.")],
    index: Searched = None,
    cutoffs: Annotated[
        list[int] | None, typer.Option("-k", "--k", min=1, max=1000, help="Cutoff; may be repeated. [5, 20]")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="Write the rankings here, in TREC's format.")] = None,
    as_json: Json = False,
) -> None:
    """Measure recall, NDCG and MRR of the judged documents, and the time a search takes."""
    asked, judged = read_queries(queries), read_qrels(qrels)
    retriever = _retriever(index)
    report, rankings = asyncio.run(evaluate(retriever, asked, judged, sorted(set(cutoffs or (5, 20)))))
    if run is not None:
        write_run(run, rankings)
    if as_json:
        console.print_json(asdict(report))
        return
    for name, value in report.measures.items():
        _say(f"{name:12} {value:.3f}")
    _say(f"{report.questions:,} questions; median search {report.median_ms:.1f} ms")


def _path(given: Path | None) -> Path:
    return given if given is not None else load().settings.index.path


def _retriever(given: list[Path] | None) -> Retriever:
    """The index that the settings name, or those given in its place."""
    index = load().settings.index
    if given:
        index = index.model_copy(update={"path": given[0], "fused_with": tuple(given[1:])})
    return load_retriever(index)


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
    _say(
        f"{done} {path}: read {_passages(report.read)} of {reading.documents:,} documents "
        f"in {report.seconds:.1f} s; the index holds {report.passages:,}."
    )
    if not problems:
        return
    counts = ", ".join(f"{count:,} {kind}" for kind, count in problems.counts.items() if count)
    _say(f"Problems: {counts}.")
    for problem in problems.first[:_SHOWN_PROBLEMS]:
        _say(f"  {problem}")
    if len(problems) > _SHOWN_PROBLEMS:
        _say(
            f"  and {len(problems) - _SHOWN_PROBLEMS:,} more; --json names the first {len(problems.first):,}."
        )


def _show_passage(rank: int, passage: Passage) -> None:
    text = " ".join(passage.text.split())
    shown = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + " …"
    title = " ".join(passage.title.split()) or passage.source
    _say(f"{rank}. {title}  [{passage.source} · {passage.id} · {passage.score:.2f}]")
    _say(f"   {shown}\n")


def _passages(count: int) -> str:
    return f"{count:,} passage" if count == 1 else f"{count:,} passages"


def _say(text: str) -> None:
    """A line on stdout; control characters, which could command a terminal, are shown as dots."""
    shown = "".join(c if c.isprintable() or c == "\n" else "·" for c in text)
    console.out.print(shown, markup=False, emoji=False, soft_wrap=True)
