"""`sufficit ask`: one question, one answer or one reasoned abstention."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from ..answer import Answer
from ..console import err, out, print_json
from ..question import checked_question
from ..report import Report
from ..retrieval import check_indexes
from ..settings import Settings, load
from ..trace import Event, Listener, check_trace_place, to_json, write_trace
from .settings import AsJson, Assignments, ConfigFile

ABSTAINED = 3

IndexFolder = Annotated[Path | None, typer.Option(help="Folder of the index instead of index.path.")]


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    index: IndexFolder = None,
    trace: Annotated[Path | None, typer.Option(help="Write the run's trace to this file.")] = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Answer QUESTION from the index, or abstain (exit code 3) with a reason."""
    options = {"index.path": index} if index else {}
    settings = load(assignments or (), config, options=options).settings
    # What can be refused is refused before models are loaded and a run is paid for.
    checked_question(question, settings.question_characters)
    check_indexes(settings.index)
    if trace is not None:
        check_trace_place(trace)
    answer, events = _run(question, settings, as_json)
    if as_json:
        print_json(to_json(events[-1])["answer"])
    if trace is not None:
        write_trace(trace, events)
    if answer.action == "abstain":
        raise typer.Exit(ABSTAINED)


def _run(question: str, settings: Settings, as_json: bool) -> tuple[Answer, tuple[Event, ...]]:
    """Load and run, with stages shown live where somebody looks on."""
    from ..build import build  # noqa: PLC0415  loads torch, which no other command needs

    with err.status("loading models") as status:
        controller = build(settings)
        listener: Listener | None = None if as_json else Report(out, status)
        return asyncio.run(controller.answer(question, listener))
