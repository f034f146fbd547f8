"""The run: every configuration over every question, each question once, whatever interrupts it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

from ..datasets.questions import Question
from .agents import Engine, ask_all
from .claim import claimed, enter
from .configurations import Configuration
from .durable import DurableRun
from .finished import Outcome
from .folder import VERSION, ConfigHeader, DataHeader, RunFolder
from .rows import PredictionRow


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is to be run."""

    data: DataHeader
    questions: tuple[Question, ...]
    configurations: tuple[Configuration, ...]


class Watcher(Protocol):
    """Is told how far a run is."""

    def loading(self, config: str) -> None:
        """The models of a configuration are about to be loaded."""
        ...

    def begin(self, config: str, done: Collection[PredictionRow], total: int) -> None:
        """A configuration begins, or goes on: what earlier runs did, of so many questions."""
        ...

    def add(self, config: str, row: PredictionRow) -> None:
        """One more question has ended."""
        ...


async def evaluate(evaluation: Evaluation, folder: RunFolder, engine: Engine, watcher: Watcher) -> None:
    """Run what the folder does not hold yet; started again it goes on, and yields the same files.

    Raises InputError where the folder is another run's, StorageError where the disk refuses, and UsageErrors
    where the setup cannot work; in each case what has ended stays.
    """
    with claimed(folder, evaluation.data, evaluation.configurations):
        for configuration in evaluation.configurations:
            if not folder.ended(configuration.name):
                await _run(evaluation, configuration, folder, engine, watcher)


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
    entry = enter(folder, configuration, agents[0].models)
    with DurableRun(folder, name, _header(evaluation.data, name, entry)) as durable:
        watcher.begin(name, durable.rows.values(), len(evaluation.questions))

        def keep(found: Outcome) -> None:
            durable.append(found)
            watcher.add(name, found.row)

        await ask_all(agents, [q for q in evaluation.questions if q.id not in durable.rows], keep)
        durable.publish([question.id for question in evaluation.questions])


def _header(data: DataHeader, config: str, entry: ConfigHeader) -> dict[str, Any]:
    """What a journal goes on under."""
    return {
        "version": VERSION,
        "config": config,
        "data": data.model_dump(mode="json", exclude={"file"}),
        **entry.model_dump(mode="json"),
    }
