"""`sufficit eval run`: configurations over a question file, every question durable as it ends."""

import asyncio
import math
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ...tools.errors import UsageError
from ..console import err, out, print_json
from .ask import IndexFolder
from .bars import RecordBars
from .settings import AsJson, Assignments

if TYPE_CHECKING:
    from ..evaluation.datasets.question_files import QuestionFile
    from ..evaluation.runs.agents import Engine
    from ..evaluation.runs.folder import RunFolder
    from ..evaluation.runs.rows import PredictionRow

_SHOWN = 3
_LOG_SECONDS = 30

Questions = Annotated[
    Path,
    typer.Option(
        "--questions",
        help="Questions with answers: BEIR, FlashRAG, HotpotQA, 2Wiki, MuSiQue, SQuAD 2.0, NQ-open, PopQA, "
        "TrustMargin, or plain JSON; also .gz.",
    ),
]
Configs = Annotated[
    list[Path] | None,
    typer.Option("--config", help="Settings of one configuration, named as the file; may be repeated."),
]


def run(
    questions: Questions,
    path: Annotated[Path, typer.Option("--out", help="Folder of the run; a killed run goes on with it.")],
    index: IndexFolder = None,
    configs: Configs = None,
    qrels: Annotated[Path | None, typer.Option(help="Relevance labels, TREC's or BEIR's.")] = None,
    count: Annotated[int | None, typer.Option("--sample", min=1, help="Ask a sample of this many.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=1024, help="Questions asked at once.")] = 1,
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="This process, or a Ray cluster with an actor a worker.")
    ] = "local",
    gpus: Annotated[float, typer.Option(min=0, help="GPUs of each Ray actor, also a part of one.")] = 0,
    retry: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Ask what failed, or abstained after a fault, once more; the later outcome counts.",
        ),
    ] = False,
    share: Annotated[
        bool,
        typer.Option(
            "--share-calls",
            help="Ask the generator once what several configurations ask of it; faster, but no row tells "
            "its time and no deadline holds.",
        ),
    ] = False,
    assignments: Assignments = None,
    as_json: AsJson = False,
) -> None:
    """Run every configuration over every question; killed and started again, it goes on where it stopped."""
    from ..evaluation.datasets.question_files import read_question_file  # noqa: PLC0415
    from ..evaluation.runs.configurations import NO_DEADLINE  # noqa: PLC0415
    from ..evaluation.runs.folder import RunFolder  # noqa: PLC0415
    from ..evaluation.runs.report_files import write_report  # noqa: PLC0415
    from ..evaluation.runs.run import Evaluation, evaluate  # noqa: PLC0415

    if share and engine == "ray":
        raise UsageError("--share-calls needs --engine local: workers of a cluster share no memory")
    if gpus and engine == "local":
        raise UsageError("--gpus needs --engine ray; here, generator.device says where models run")
    found = read_question_file(questions, qrels)
    _say_found(found, count)
    given = [*(assignments or ()), *([NO_DEADLINE] if share else [])]
    evaluation = Evaluation.of(found, configs or (), index, given, count=count, retry_failed=retry)
    with _engine(engine, workers, gpus, share_calls=share) as chosen, RunBars() as bars:
        asyncio.run(evaluate(evaluation, path, chosen, bars))
    with err.status("writing the report"):
        write_report(path)
    names = [configuration.name for configuration in evaluation.configurations]
    _tell(RunFolder(path), names, as_json)


def _say_found(found: "QuestionFile", count: int | None) -> None:
    held = len(found.questions)
    shown = f"{held:,}" if count is None or count >= held else f"{count:,} of {held:,}"
    err.print(f"{found.name}: {found.format}, {shown} questions", markup=False)
    if found.unscored:
        err.print(f"left out {_named(found.unscored)}: no answer is given", markup=False)
    for bad in found.bad[:_SHOWN]:
        err.print(f"left out row {bad.row}: {bad.reason}", markup=False)
    if len(found.bad) > _SHOWN:
        err.print(f"left out {len(found.bad) - _SHOWN} more rows")


def _named(ids: Sequence[str]) -> str:
    return f"{len(ids):,} questions (" + ", ".join(ids[:_SHOWN]) + (", …)" if len(ids) > _SHOWN else ")")


@contextmanager
def _engine(engine: str, workers: int, gpus: float, *, share_calls: bool) -> Iterator["Engine"]:
    if engine == "ray":
        if find_spec("ray") is None:
            raise UsageError("--engine ray needs the package ray\nInstall it: pip install 'sufficit[ray]'")
        from ..evaluation.runs.cluster import RayEngine  # noqa: PLC0415  an extra of its own

        with RayEngine(workers, gpus) as cluster:
            yield cluster
    else:
        # torch is loaded here, so that what is wrong with the questions is told at once.
        from ..evaluation.runs.loader import local_engine  # noqa: PLC0415

        yield local_engine(workers, share_calls=share_calls)


class RunBars(RecordBars):
    """A bar a configuration, with what it has cost so far and how many questions failed."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._done: dict[str, int] = {}
        self._logged = -math.inf

    def loading(self, config: str) -> None:
        """The models of a configuration are about to be loaded."""
        self.console.print(f"{config}: loading models", markup=False)

    def begin(self, config: str, done: "Collection[PredictionRow]", total: int) -> None:
        """Set up a bar; what earlier runs did counts as done, not as fast."""
        self.show(config, len(done), total)
        self._done[config] = len(done)
        self._tokens[config] = sum(map(_tokens, done))
        self._failed[config] = sum(row.action == "failed" for row in done)

    def add(self, config: str, row: "PredictionRow") -> None:
        """One more question has ended."""
        self._done[config] += 1
        self._tokens[config] += _tokens(row)
        self._failed[config] += row.action == "failed"
        failed = f", {self._failed[config]} failed" if self._failed[config] else ""
        each = self._tokens[config] / self._done[config]
        cost = f"{config}: {self._tokens[config]:,} tokens, {each:,.0f} a question{failed}"
        self.update(self.bar(config), completed=self._done[config], description=cost)
        self._log(config)

    def _log(self, config: str) -> None:
        """A line now and then where no bar can be drawn, as in a file."""
        now = time.monotonic()
        if self.console.is_terminal or now - self._logged < _LOG_SECONDS:
            return
        self._logged = now
        task = next(task for task in self.tasks if task.id == self.bar(config))
        rate = f", {task.speed:.2f}/s" if task.speed else ""
        left = "" if task.time_remaining is None else f", {task.time_remaining:,.0f} s left"
        shown = f"{task.description}, {task.completed:,.0f} of {task.total:,.0f} done{rate}{left}"
        self.console.print(shown, markup=False, soft_wrap=True)


def _tokens(row: "PredictionRow") -> int:
    return sum(cost.generated_tokens + cost.prompt_tokens for cost in row.stages.values())


def _tell(folder: "RunFolder", names: Sequence[str], as_json: bool) -> None:
    """What every configuration came to; a failed question counts as one that was not answered."""
    found = {name: _counts(rows) for name, rows in folder.read_predictions().items() if name in names}
    if as_json:
        print_json({"out": str(folder.path), "configurations": found})
        return
    for name, counts in found.items():
        share = counts["answered"] / counts["questions"]
        out.print(
            f"{name}: answered {share:.1%} of {counts['questions']:,} questions "
            f"({counts['abstained']:,} abstained, {counts['failed']:,} failed), {counts['tokens']:,} tokens",
            markup=False,
        )
    out.print(f"The report is {folder.report('md')}, with plots {folder.report('html')}.", markup=False)


def _counts(rows: "Sequence[PredictionRow]") -> dict[str, Any]:
    return {
        "questions": len(rows),
        "answered": sum(row.action == "answer" for row in rows),
        "abstained": sum(row.action == "abstain" for row in rows),
        "failed": sum(row.action == "failed" for row in rows),
        "tokens": sum(map(_tokens, rows)),
    }
