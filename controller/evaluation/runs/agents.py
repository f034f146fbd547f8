"""Who answers the questions of a run: one protocol, so that a cluster can stand in for this process."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ....tools.errors import InputError, UsageError
from ...loop import Controller
from ...trace import Event
from ..datasets.questions import Question
from .configurations import Configuration
from .finished import Outcome, outcome
from .rows import Hashes


class Agent(Protocol):
    """One configuration, ready to be asked."""

    @property
    def models(self) -> Mapping[str, str]:
        """Names and hashes of all that measures."""
        ...

    async def ask(self, question: Question) -> Outcome:
        """What the question came to; a run that failed is an outcome too.

        Raises UsageError where the setup cannot work, so that no other question would fare better.
        """
        ...


class Engine(Protocol):
    """Where agents run."""

    def agents(self, configuration: Configuration) -> Sequence[Agent]:
        """As many as are to work at once; those of earlier configurations are not asked any more."""
        ...


@dataclass(frozen=True, slots=True)
class ControllerAgent:
    """A controller in this process."""

    controller: Controller
    config: str
    hashes: Hashes
    models: Mapping[str, str]

    async def ask(self, question: Question) -> Outcome:
        """See Agent."""
        events: list[Event] = []
        try:
            await self.controller.answer(question.text, events.append)
        except InputError as error:
            return outcome(self.config, self.hashes, question, events, error)
        except UsageError:
            raise
        except Exception as error:
            return outcome(self.config, self.hashes, question, events, error)
        return outcome(self.config, self.hashes, question, events)


@dataclass(frozen=True, slots=True)
class UntimedAgent:
    """An agent part of whose work another one did before, so that the time it takes says nothing."""

    agent: Agent

    @property
    def models(self) -> Mapping[str, str]:
        """See Agent; names the sharing, so that no run goes on with what one of the other kind left."""
        return {**self.agent.models, "calls": "shared between configurations"}

    async def ask(self, question: Question) -> Outcome:
        """See Agent; the row has no timings."""
        found = await self.agent.ask(question)
        return replace(found, row=found.row.model_copy(update={"timings": {}}))


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """`workers` questions at once in this process, over one set of models, whose calls share batches."""

    workers: int
    make: Callable[[Configuration], Agent]

    def agents(self, configuration: Configuration) -> Sequence[Agent]:
        """See Engine."""
        return [self.make(configuration)] * self.workers


async def ask_all(
    agents: Sequence[Agent], questions: Iterable[Question], keep: Callable[[Outcome], None]
) -> None:
    """Ask every question once, each agent one at a time; `keep` gets outcomes in order of completion.

    The first error of an agent, or of `keep`, ends it all and is raised.
    """
    waiting = iter(questions)

    async def work(agent: Agent) -> None:
        for question in waiting:
            keep(await agent.ask(question))

    try:
        async with asyncio.TaskGroup() as group:
            for agent in agents:
                group.create_task(work(agent))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
