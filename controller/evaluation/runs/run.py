"""The run: every configuration over every question, each question once, whatever interrupts it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from ..datasets.question_files import QuestionFile
from ..datasets.questions import Question
from ..datasets.sampling import sample
from .agents import Engine, ask_all
from .claim import claimed, enter
from .configurations import Configuration, read_configurations
from .durable import DurableRun, reopen
from .finished import Outcome
from .folder import VERSION, ConfigHeader, DataHeader, RunFolder
from .rows import PredictionRow, read_rows


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is to be run. With `retry_failed`, questions that failed, or abstained after a fault, are asked
    once more when all have ended, those of an earlier run too; the later outcome counts.
    """

    data: DataHeader
    questions: tuple[Question, ...]
    configurations: tuple[Configuration, ...]
    retry_failed: bool = False

    @classmethod
    def of(
        cls,
        found: QuestionFile,
        configs: Sequence[Path],
        index: Path | None = None,
        assignments: Sequence[str] = (),
        *,
        count: int | None = None,
        retry_failed: bool = False,
    ) -> Self:
        """The questions of a file, or `count` of them, under settings files, one a configuration.

        `index` and `assignments` (`key=value`) go into every configuration. Raises as read_configurations
        does.
        """
        asked = tuple(sample(found.questions, count))
        data = DataHeader(
            file=found.name,
            format=found.format,
            hash=found.digest,
            questions=len(asked),
            sampled_from=None if len(asked) == len(found.questions) else len(found.questions),
            left_out=len(found.unscored) + len(found.bad),
        )
        return cls(data, asked, read_configurations(configs, assignments, index, found.digest), retry_failed)


class Watcher(Protocol):
    """Is told how far a run is. What inherits from it need only define what it wants to be told."""

    def loading(self, config: str) -> None:
        """The models of a configuration are about to be loaded."""
        ...

    def begin(self, config: str, done: Collection[PredictionRow], total: int) -> None:
        """A configuration begins, or goes on: what earlier runs did, of so many questions."""
        ...

    def add(self, config: str, row: PredictionRow) -> None:
        """One more question has ended."""
        ...


async def evaluate(evaluation: Evaluation, out: Path, engine: Engine, watcher: Watcher) -> None:
    """Run what the folder `out` does not hold yet; started again it goes on, and yields the same files.

    Raises InputError where the folder is another run's, StorageError where the disk refuses, and UsageErrors
    where the setup cannot work; in each case what has ended stays.
    """
    folder = RunFolder(out)
    with claimed(folder, evaluation.data, evaluation.configurations):
        for configuration in evaluation.configurations:
            name = configuration.name
            if not folder.ended(name) or _to_retry(evaluation, name, folder):
                await _run(evaluation, configuration, folder, engine, watcher)
            # A kill leaves it where the other journal is already gone, or not yet there.
            folder.journal_of_traces(name).unlink(missing_ok=True)


def _to_retry(evaluation: Evaluation, config: str, folder: RunFolder) -> bool:
    """Whether questions of a configuration that has ended are to be asked again."""
    unsettled = (row.unsettled for row in read_rows(folder.predictions(config)))
    return evaluation.retry_failed and any(unsettled)


async def _run(
    evaluation: Evaluation,
    configuration: Configuration,
    folder: RunFolder,
    engine: Engine,
    watcher: Watcher,
) -> None:
    name = configuration.name
    watcher.loading(name)
    agents = engine.agents(configuration)
    header = _header(evaluation.data, name, enter(folder, configuration, agents[0].models))
    if folder.ended(name):
        reopen(folder, name, header)
    with DurableRun(folder, name, header) as durable:

        def keep(found: Outcome) -> None:
            durable.append(found)
            watcher.add(name, found.row)

        async def ask() -> None:
            watcher.begin(name, durable.rows.values(), len(evaluation.questions))
            await ask_all(agents, [q for q in evaluation.questions if q.id not in durable.rows], keep)

        await ask()
        if evaluation.retry_failed and durable.ask_again():
            await ask()
        durable.publish([question.id for question in evaluation.questions])


def _header(data: DataHeader, config: str, entry: ConfigHeader) -> dict[str, Any]:
    """What a journal goes on under."""
    return {
        "version": VERSION,
        "config": config,
        "data": data.model_dump(mode="json", exclude={"file"}),
        **entry.model_dump(mode="json"),
    }
