"""`sufficit eval trustmargin`: what arbitration between both answers gains on one's own questions."""

import asyncio
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...tools.errors import UsageError
from ..console import err, print_json, say
from ..settings import Settings, load
from .ask import IndexFolder
from .bars import RecordBars
from .evaluate import Limit, Out, QuestionFile
from .report import Markdown, print_grids, write_markdown
from .settings import AsJson, Assignments, ConfigFile

if TYPE_CHECKING:
    from ..evaluation.arbitration.plan import Plan
    from ..evaluation.arbitration.report import TrustMarginReport
    from ..evaluation.datasets.questions import Question


def eval_trustmargin(
    questions: QuestionFile,
    path: Out,
    index: IndexFolder = None,
    count: Limit = None,
    passages: Annotated[int, typer.Option(min=1, max=200, help="Passages found for a question.")] = 20,
    pipelines: Annotated[
        list[str] | None,
        typer.Option(
            "--pipeline",
            help="rag, ircot, flare, clehe or dtr; may be repeated, the first is the one looked at closely.",
        ),
    ] = None,
    corruption: Annotated[
        str, typer.Option(help="Shares of the pool to replace by random passages, such as 0,0.25,0.5,0.75,1.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of the random passages.")] = 17,
    at_once: Annotated[
        int, typer.Option(min=1, help="Questions that run together; faster, but then nothing is timed.")
    ] = 1,
    plots: Annotated[Path | None, typer.Option(help="Draw grid, recovery and corruption here.")] = None,
    markdown: Markdown = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Direct, RAG and TrustMargin on QUESTIONS: F1, EM, oracle gap, lambda and tau, corruption, cost."""
    from ..evaluation.arbitration.drawing import draw_report  # noqa: PLC0415
    from ..evaluation.arbitration.plan import Plan  # noqa: PLC0415
    from ..evaluation.arbitration.tables import trustmargin_grids  # noqa: PLC0415

    plan = Plan(tuple(pipelines or ("rag",)), _shares(corruption), passages, seed, at_once)
    options = {"index.path": index} if index else {}
    settings = load(assignments or (), config, options=options).settings
    report = asyncio.run(_run(settings, plan, _read(questions), count, path))
    grids = trustmargin_grids(report)
    write_markdown(markdown, "TrustMargin", grids)
    if plots:
        draw_report(report, plots)
    if as_json:
        print_json(asdict(report) | {"out": str(path)})
        return
    print_grids(grids)
    say(f"\nrows: {path}; other settings: sufficit arbitrate replay {path} --lambda 0.5 --tau -4")


def _shares(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(share) for share in text.split(",") if share.strip())
    except ValueError as error:
        raise UsageError(f"--corruption takes shares in [0, 1], apart by commas, not {text!r}") from error


def _read(file: Path) -> "list[Question]":
    from ..evaluation.datasets.questions import read_questions  # noqa: PLC0415

    found, without = read_questions(file)
    if without:
        err.print(f"left out {without} questions without an answer")
    return found


async def _run(
    settings: Settings, plan: "Plan", questions: "list[Question]", count: int | None, path: Path
) -> "TrustMarginReport":
    # torch is loaded here, so that the other commands start fast.
    from ..evaluation.arbitration.benchmark import run_benchmark  # noqa: PLC0415
    from ..evaluation.arbitration.load import load_benchmark  # noqa: PLC0415
    from ..evaluation.arbitration.report import trustmargin_report  # noqa: PLC0415
    from ..evaluation.arbitration.sweeps import TAUS, WEIGHTS  # noqa: PLC0415
    from ..evaluation.datasets.sampling import sample  # noqa: PLC0415

    with err.status("loading models"):
        bench, header = await load_benchmark(settings, plan, questions)
    with RecordBars() as bars:
        show = partial(bars.show, "answers")
        rows = await run_benchmark(bench, sample(questions, count), header, path, show)
    return trustmargin_report(rows, bench.trials, settings.trustmargin, WEIGHTS, TAUS)
