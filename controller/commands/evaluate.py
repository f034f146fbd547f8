"""`sufficit eval`: benchmarks of the whole; `sufficit tune-threshold`: T_p on one's own questions."""

import asyncio
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...tools.errors import InputError
from ..console import err, out, print_json
from ..settings import load
from . import eval_compare, eval_show
from .ask import IndexFolder
from .bars import RecordBars
from .drawing import plot_option
from .report import Markdown, print_grids, write_markdown
from .settings import AsJson, Assignments, ConfigFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..evaluation.datasets.questions import Question
    from ..evaluation.pruning.bench import Plan
    from ..evaluation.pruning.pruners import Models
    from ..evaluation.pruning.report import PruningReport
    from ..settings import Settings

app = typer.Typer(name="eval", help="Benchmarks on question files.", no_args_is_help=True)

QuestionFile = Annotated[
    Path, typer.Argument(help="Questions with answers: JSON Lines or JSON, also .gz; BEIR's queries too.")
]
Out = Annotated[
    Path,
    typer.Option("--out", help="File of outcomes, a row a question; a killed run goes on with it."),
]
Qrels = Annotated[Path | None, typer.Option(help="Relevance labels, TREC's or BEIR's, for NDCG.")]
Limit = Annotated[int | None, typer.Option("--questions", min=1, help="Run a sample of this many.")]
CandidateCount = Annotated[int, typer.Option("--candidates", min=1, help="Passages found for a question.")]
Plot = Annotated[Path | None, plot_option("Draw")]

THRESHOLDS = (-0.1, -0.05, 0.0, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
"""T_p of the scans, as in IGP Figure 4."""
TOP_K = (4, 32, 128)
MAX_TOKENS = (1, 4, 8, 16, 32)
"""K and MT of their scan, as in IGP Figure 5."""


@app.callback()
def evaluate() -> None:
    """Benchmarks on question files."""


app.command()(eval_compare.compare)
app.command()(eval_compare.explain)
app.command()(eval_compare.report)
app.command()(eval_show.show)


@app.command("igp")
def eval_igp(
    questions: QuestionFile,
    path: Out,
    index: IndexFolder = None,
    qrels: Qrels = None,
    count: Limit = None,
    candidates: CandidateCount = 10,
    thresholds: Annotated[
        list[float] | None,
        typer.Option("--threshold", help="A T_p beside 0 and 0.05, such as a tuned one; may be repeated."),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method", help="Only this method, named as in the table, and retriever; may be repeated."
        ),
    ] = None,
    scans: Annotated[bool, typer.Option(help="Scan T_p, and K with MT, too, at TopM 1.")] = False,
    cross_encoder: Annotated[str | None, typer.Option(help="Model of the cross-encoder rival.")] = None,
    plot: Plot = None,
    markdown: Markdown = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """The table of IGP: F1, prompt tokens and NTE by method at TopM 1 and 5, and NDCG against F1."""
    from ..evaluation.plots import plot_lines  # noqa: PLC0415
    from ..evaluation.pruning.pruners import igp, paper_methods  # noqa: PLC0415
    from ..evaluation.pruning.report import pruning_grids  # noqa: PLC0415

    levels = list(dict.fromkeys([0.0, 0.05, *_levels(thresholds or ())]))

    def plan(models: "Models") -> "Plan":
        chosen = [(method, top_m) for top_m in (1, 5) for method in paper_methods(models, levels)]
        if scans:
            chosen += [(igp(level), 1) for level in THRESHOLDS if level not in levels]
            chosen += [(igp(0.05, top_k, steps), 1) for top_k in TOP_K for steps in MAX_TOKENS]
        return _only(methods, chosen) if methods else chosen

    settings = _settings(assignments, config, index)
    report = _run(settings, _read(questions, qrels, count), candidates, plan, path, cross_encoder)
    grids = pruning_grids(report)
    write_markdown(markdown, "Information Gain Pruning", grids)
    if plot:
        plot_lines(_pareto(report), "tokens of the final prompt", "F1", plot)
    if as_json:
        print_json(asdict(report) | {"out": str(path)})
    else:
        print_grids(grids)
        _say_skipped(report)


def tune_threshold(
    questions: QuestionFile,
    path: Out,
    index: IndexFolder = None,
    count: Limit = None,
    candidates: CandidateCount = 10,
    top_m: Annotated[int, typer.Option(min=1, help="Passages kept at most; the paper scans at 1.")] = 1,
    thresholds: Annotated[
        list[float] | None, typer.Option("--threshold", help="A T_p to try; may be repeated.")
    ] = None,
    plot: Plot = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Scan T_p on QUESTIONS and name the sweet spot: the best F1, at equal F1 the fewest tokens.

    All but T_p and M is as the settings have it: guard, near-duplicates, gates.
    """
    from ..evaluation.plots import plot_lines  # noqa: PLC0415
    from ..evaluation.pruning.pruners import as_set, rivals  # noqa: PLC0415
    from ..evaluation.pruning.report import pruning_grids  # noqa: PLC0415

    levels = sorted(set(_levels(thresholds or THRESHOLDS)))

    def plan(models: "Models") -> "Plan":
        return [(rivals(models)[0], top_m), *((as_set(level), top_m) for level in levels)]

    settings = _settings(assignments, config, index)
    report = _run(settings, _read(questions, None, count), candidates, plan, path, None)
    scanned = dict(zip(levels, report.lines[1:], strict=True))
    best = max(levels, key=lambda level: (scanned[level].f1, -scanned[level].tokens))
    if plot:
        series = {
            "F1": [(level, line.f1) for level, line in scanned.items()],
            "share of tokens saved": [(level, line.saved) for level, line in scanned.items()],
        }
        plot_lines(series, "T_p", "F1, share of tokens", plot)
    if as_json:
        print_json(asdict(report) | {"threshold": best, "out": str(path)})
        return
    print_grids(pruning_grids(report))
    _say_skipped(report)
    out.print(f"\nbest here: T_p = {best:g}. Set it: --set igp.threshold={best:g}")


def _only(names: "Sequence[str]", plan: "Plan") -> "Plan":
    """The reference and what is named; raises InputError for a name that the plan does not have."""
    from ..evaluation.pruning.pruners import REFERENCE  # noqa: PLC0415

    known = list(dict.fromkeys(method.name for method, _ in plan))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(f"--method: there is no {unknown[0]!r}; there are {', '.join(known)}")
    return [(method, top_m) for method, top_m in plan if method.name in (REFERENCE, *names)]


def _levels(thresholds: "Sequence[float]") -> list[float]:
    """T_p as reports name them; raises InputError for one that no gain can reach."""
    if any(not -1 <= level <= 1 for level in thresholds):
        raise InputError("--threshold must lie in [-1, 1]: a gain is a difference of two shares")
    return [float(f"{level:g}") for level in thresholds]


def _settings(assignments: list[str] | None, config: Path | None, index: Path | None) -> "Settings":
    return load([*(assignments or ()), *([f"index.path={index}"] if index else [])], config).settings


def _read(file: Path, qrels: Path | None, count: int | None) -> "list[Question]":
    from ..evaluation.datasets.questions import read_questions  # noqa: PLC0415
    from ..evaluation.datasets.sampling import sample  # noqa: PLC0415

    found, without = read_questions(file, qrels)
    if without:
        err.print(f"left out {without} questions without an answer")
    return sample(found, count)


def _run(
    settings: "Settings",
    questions: "list[Question]",
    candidates: int,
    plan: "Callable[[Models], Plan]",
    path: Path,
    cross_encoder: str | None,
) -> "PruningReport":
    # torch is loaded here, so that the other commands start fast.
    from ..evaluation.pruning.bench import load_bench  # noqa: PLC0415
    from ..evaluation.pruning.report import pruning_report  # noqa: PLC0415
    from ..evaluation.pruning.run import run_bench  # noqa: PLC0415

    with err.status("loading models"):
        loaded = load_bench(settings, questions, candidates, plan, cross_encoder)
    with RecordBars() as bars:
        show = partial(bars.show, "questions")
        rows = asyncio.run(run_bench(loaded.bench, questions, loaded.header, path, show))
    return pruning_report(rows)


def _pareto(report: "PruningReport") -> dict[str, list[tuple[float, float]]]:
    """Every method's points, tokens and F1, from its smallest M up."""
    found: dict[str, list[tuple[float, float]]] = {}
    for line in sorted(report.lines, key=lambda line: line.top_m):
        if " K=" not in line.method:
            found.setdefault(line.method, []).append((line.tokens, line.f1))
    return found


def _say_skipped(report: "PruningReport") -> None:
    if report.skipped:
        out.print(f"{report.skipped} questions could not be run; the rows of the file say why")
