"""The same run on a local Ray: two workers, one of them killed while it answers."""

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from evaluations import Scripted, configuration, contents, evaluation, run
from sufficit.controller.evaluation.runs.folder import RunFolder
from sufficit.tools.errors import ArtifactError, UsageError

ray = pytest.importorskip("ray")

from ray.exceptions import ActorDiedError, NodeDiedError, OutOfMemoryError  # noqa: E402
from sufficit.controller.evaluation.runs.cluster import Place, RayAgent, RayEngine, room  # noqa: E402

pytestmark = pytest.mark.ray

TESTS = str(Path(__file__).resolve().parents[3])


@dataclass
class Mortal:
    """An agent that ends its own process at a question, as often as the file named for it allows."""

    agent: object
    question: str
    lives: Path

    @property
    def models(self):
        return self.agent.models

    async def ask(self, question):
        with self.lives.with_name("asked").open("a") as file:
            file.write(f"{question.id},{os.getpid()}\n")
        if question.id == self.question and (left := int(self.lives.read_text())):
            self.lives.write_text(str(left - 1))
            os.kill(os.getpid(), signal.SIGKILL)
        return await self.agent.ask(question)


@dataclass
class Makes:
    """Gives, in an actor, what makes its agents; those called `broken` cannot be made."""

    question: str
    lives: Path

    def __call__(self):
        def make(chosen):
            if chosen.name == "broken":
                raise ArtifactError("the artifact is damaged")
            return Mortal(Scripted(0.02)(chosen), self.question, self.lives)

        return make


@pytest.fixture(scope="module")
def importable():
    """Actors are processes of their own and import these tests too."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", os.pathsep.join((TESTS, str(Path(__file__).parent))))
        patched.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def engine(place, importable):
    with RayEngine(2, make=Makes("q 4", place / "lives")) as engine:
        yield engine


def asked(place):
    """Who was asked what since the last call: (question, process)."""
    file = place / "asked"
    found = [tuple(line.split(",")) for line in file.read_text().splitlines()]
    file.unlink()
    return found


def test_a_killed_workers_question_is_asked_once_more(place, engine):
    run(evaluation(10), place / "here")
    (place / "lives").write_text("1")
    told = run(evaluation(10), place / "there", engine)
    assert sorted(told[2:]) == sorted(("full", f"q {n}") for n in range(10))
    found = asked(place)
    assert sorted(question for question, _ in found) == sorted([f"q {n}" for n in range(10)] + ["q 4"])
    assert len({process for _, process in found}) == 3
    assert contents(place / "there") == contents(place / "here")


def test_a_question_that_kills_twice_has_failed_and_counts(place, engine):
    (place / "lives").write_text("2")
    run(evaluation(6), place / "twice", engine)
    assert [question for question, _ in asked(place)].count("q 4") == 2
    rows = RunFolder(place / "twice").read_predictions()["full"]
    assert [row.id for row in rows if "WorkerDied: the worker of the cluster died" in row.error] == ["q 4"]
    assert len(rows) == 6


def test_what_loading_raises_is_raised(place, engine):
    broken = evaluation(2, configuration("broken"))
    with pytest.raises(ArtifactError, match="is damaged"):
        run(broken, place / "broken", engine)


@pytest.mark.parametrize("death", [ActorDiedError(), NodeDiedError("gone"), OutOfMemoryError("full")])
def test_whatever_ends_a_worker_its_question_is_asked_once_more(monkeypatch, death):
    chosen, killed, begun = configuration(), [], []
    monkeypatch.setattr("sufficit.controller.evaluation.runs.cluster.ray.kill", killed.append)
    agent = Scripted()(chosen)

    async def dies(_):
        raise death

    async def prepares(_):
        return agent.models

    def start():
        begun.append(SimpleNamespace(remote=agent.ask if begun else dies))
        return SimpleNamespace(ask=begun[-1], prepare=SimpleNamespace(remote=prepares))

    place = Place(start)
    first = place.actor
    found = asyncio.run(RayAgent(place, chosen, agent.models).ask(evaluation(1).questions[0]))
    assert (found.row.action, killed, len(begun)) == ("answer", [first], 2)


@pytest.mark.parametrize(
    ("machines", "gpus", "expected"),
    [
        ((0.0,), 1, 0),
        ((2.0, 1.0), 1, 3),
        ((2.0, 1.0), 2, 1),
        ((2.0,), 0.6, 2),
        ((2.0, 0.0), 0.1, 20),
        ((1.0,), 1 / 3, 3),
    ],
)
def test_a_gpu_is_shared_but_no_worker_spans_machines(machines, gpus, expected):
    assert room(machines, gpus) == expected


def test_parts_of_several_gpus_are_refused_before_a_cluster_is_begun():
    with pytest.raises(UsageError, match=r"--gpus 1\.5: more than one GPU are a whole number"):
        RayEngine(1, 1.5)


def test_gpus_that_the_cluster_lacks_are_not_waited_for(monkeypatch):
    base = "sufficit.controller.evaluation.runs.cluster.ray"
    monkeypatch.setattr(f"{base}.init", lambda **_: None)
    monkeypatch.setattr(f"{base}.shutdown", lambda: None)
    nodes = [{"Alive": True, "Resources": {"GPU": 1.0}}, {"Alive": False, "Resources": {"GPU": 8.0}}]
    monkeypatch.setattr(f"{base}.nodes", lambda: nodes)
    with pytest.raises(UsageError, match="1 GPUs have room for 1 workers of 1 GPUs each, not for 2; lower"):
        RayEngine(2, 1)
