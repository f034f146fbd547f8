"""Agents on a Ray cluster: actors hold a model each, and one that dies is replaced.

An actor answers one question at a time. The question that a dead actor leaves behind is asked once more, by
its successor; an actor's death under it a second time makes a failed row of it.
"""

import contextlib
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import ray
from ray.exceptions import RayError, RayTaskError

from ....tools.errors import RunError, UsageError
from ..datasets.questions import Question
from .agents import Agent
from .configurations import Configuration
from .finished import Outcome, outcome

ATTEMPTS = 2

Make = Callable[[Configuration], Agent]


def loads_models() -> Make:
    """What makes agents over models; these, and torch, are loaded in the actors alone."""
    from .loader import Loader  # noqa: PLC0415  as it says

    return Loader()


class WorkerDied(RunError):
    """A worker of the cluster ended, or its machine did."""


class Worker:
    """What an actor runs: one agent, made anew for every configuration."""

    def __init__(self, make: Callable[[], Make], folder: str) -> None:
        # Relative paths mean the same as where the run was started, if this machine has that place.
        with contextlib.suppress(OSError):
            os.chdir(folder)
        self._make = make()
        self._agent: Agent | None = None

    def prepare(self, configuration: Configuration) -> dict[str, str]:
        """Load what the configuration names; returns the names and hashes of its models."""
        self._agent = None
        self._agent = self._make(configuration)
        return dict(self._agent.models)

    async def ask(self, question: Question) -> Outcome:
        """What the question came to."""
        if self._agent is None:
            raise RuntimeError("prepare comes before ask")
        return await self._agent.ask(question)


class Place:
    """Where one actor works, and after its death another."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self._start = start
        self.actor = start()
        self.prepared = True

    def replace(self) -> None:
        """Start another actor; the old one, should it live, is ended, so that no question is asked twice."""
        ray.kill(self.actor)
        self.actor = self._start()
        self.prepared = False


@dataclass(frozen=True, slots=True)
class RayAgent:
    """The actor at one place, under one configuration."""

    place: Place
    configuration: Configuration
    models: Mapping[str, str]

    async def ask(self, question: Question) -> Outcome:
        """See Agent."""
        for _ in range(ATTEMPTS):
            try:
                return await self._asked(question)
            except RayTaskError as error:
                raise error.cause from None
            except RayError:  # the actor, its memory or its machine
                self.place.replace()
        died = WorkerDied(f"the worker of the cluster died under it {ATTEMPTS} times")
        return outcome(self.configuration.name, self.configuration.hashes, question, (), died)

    async def _asked(self, question: Question) -> Outcome:
        if not self.place.prepared:
            await self.place.actor.prepare.remote(self.configuration)
            self.place.prepared = True
        found: Outcome = await self.place.actor.ask.remote(question)
        return found


def room(found: Iterable[float], gpus: float) -> int:
    """How many actors of `gpus` each, more than 0, machines of so many GPUs can hold."""
    if gpus > 1:
        return sum(int(count / gpus) for count in found)
    return sum(int(count) * int(1 / gpus + 1e-9) for count in found)


class RayEngine:
    """`workers` actors on the cluster that RAY_ADDRESS names or that runs here, else on one started for it.

    `make` is called in every actor and gives what makes its agents; the default loads models. Each actor is
    promised `gpus` of a GPU. Raises UsageError where there is no such cluster, or not the room in it. Use it
    as a context manager: at its end the actors are ended.
    """

    def __init__(self, workers: int, gpus: float = 0, make: Callable[[], Make] = loads_models) -> None:
        if not (0 <= gpus <= 1 or gpus.is_integer()):
            raise UsageError(f"--gpus {gpus:g}: more than one GPU are a whole number of them")
        try:
            # A cluster of one's own needs no dashboard; one that runs already keeps what it has.
            ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        except ConnectionError as error:
            raise UsageError(
                f"no Ray cluster at RAY_ADDRESS = {os.environ.get('RAY_ADDRESS')}: {error}"
            ) from error
        machines: Any = ray.nodes  # untyped
        found = [node["Resources"].get("GPU", 0.0) for node in machines() if node["Alive"]]
        if gpus and (most := room(found, gpus)) < workers:
            ray.shutdown()
            raise UsageError(
                f"the cluster's {sum(found):g} GPUs have room for {most} workers of {gpus:g} GPUs each, "
                f"not for {workers}; lower --workers or --gpus"
            )
        # Actors queue for nothing but their GPUs, and are spread over the machines.
        remote: Any = ray.remote(max_restarts=0, num_cpus=0, num_gpus=gpus, scheduling_strategy="SPREAD")
        actor: Any = remote(Worker)
        folder = str(Path.cwd())
        self._places = [Place(lambda: actor.remote(make, folder)) for _ in range(workers)]

    def agents(self, configuration: Configuration) -> Sequence[Agent]:
        """See Engine. Raises WorkerDied where a worker ends while it loads, and what loading raises."""
        try:
            models = ray.get([place.actor.prepare.remote(configuration) for place in self._places])
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            raise WorkerDied(f"a worker of the cluster died while it loaded its models: {error}") from error
        for place in self._places:
            place.prepared = True
        return [RayAgent(place, configuration, own) for place, own in zip(self._places, models, strict=True)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ray.shutdown()
