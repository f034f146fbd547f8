"""`sufficit index eval`: measure an index, or a run of any other retriever, against judgements."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from ...tools.errors import InputError
from ...tools.protocols import Retriever
from ...tools.retrievers.trec import (
    Ranking,
    check_ids,
    check_run_place,
    read_qrels,
    read_queries,
    read_run,
    write_run,
)
from .. import console
from ..evaluation.retrieval import RetrievalReport, evaluate, evaluate_run, judged_of
from ..retrieval import load_retriever
from ..settings import load
from .bars import RecordBars

Searched = Annotated[
    list[Path] | None,
    typer.Option(
        "--index",
        metavar="DIR",
        help="Folder of the index, Anserini's too; several are fused. Else the setting index.path.",
    ),
]
Judgements = dict[str, dict[str, int]]


def evaluate_index(
    qrels: Annotated[Path, typer.Option(help="Judgements in BEIR's columns or TREC's.")],
    queries: Annotated[Path | None, typer.Option(help="Questions in BEIR's JSON Lines.")] = None,
    index: Searched = None,
    cutoffs: Annotated[
        list[int] | None, typer.Option("-k", "--k", min=1, max=1000, help="Cutoff; may be repeated. [5, 20]")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="Write the rankings here, in TREC's format.")] = None,
    run_in: Annotated[
        Path | None, typer.Option(help="Measure this run, in TREC's format, instead of searching.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON value on stdout.")] = False,
) -> None:
    """Measure recall, NDCG and MRR of the judged documents, and the time a search takes.

    Searches an index for the judged QUERIES, or measures the run of any retriever with --run-in.
    """
    wanted = sorted(set(cutoffs or (5, 20)))
    judged = read_qrels(qrels)
    if run_in is not None:
        if queries or index or run:
            raise InputError("A run is measured as it is.\nLeave out --queries, --index and --run.")
        _show(evaluate_run(read_run(run_in), judged, wanted), as_json)
        return
    if queries is None:
        raise InputError("There is nothing to measure.\nGive --queries to search for, or --run-in FILE.")
    asked = judged_of(read_queries(queries), judged)
    if run is not None:  # what can be refused is refused before the searches
        check_run_place(run)
        check_ids([*asked, *(document for id_ in asked for document in judged[id_])])
    report, rankings = _searched(retriever_of(index), asked, judged, wanted, writable=run is not None)
    _show(report, as_json)
    if run is not None:
        write_run(run, rankings)


def retriever_of(given: list[Path] | None) -> Retriever:
    """The index that the settings name, or those given in its place."""
    index = load().settings.index
    if given:
        index = index.model_copy(update={"path": given[0], "fused_with": tuple(given[1:])})
    return load_retriever(index)


def _searched(
    retriever: Retriever, asked: Mapping[str, str], judged: Judgements, cutoffs: list[int], *, writable: bool
) -> tuple[RetrievalReport, dict[str, dict[str, float]]]:
    """Search with a bar; `writable` stops at the first document that a run could not hold."""
    with RecordBars() as bars:
        done = count(1)

        def ranked(ranking: Ranking) -> None:
            if writable:
                check_ids(ranking)
            bars.show("searching", next(done), len(asked))

        return asyncio.run(evaluate(retriever, asked, judged, cutoffs, ranked))


def _show(report: RetrievalReport, as_json: bool) -> None:
    if as_json:
        console.print_json(asdict(report))
        return
    for name, value in report.measures.items():
        console.say(f"{name:12} {value:.3f}")
    time = "" if report.median_ms is None else f"; median search {report.median_ms:.1f} ms"
    console.say(f"{report.questions:,} questions{time}")
