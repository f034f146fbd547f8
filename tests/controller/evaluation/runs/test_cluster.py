"""The same run on a local Ray: two workers, one of them killed while it answers."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from evaluations import Scripted, configuration, contents, evaluation, run
from sufficit.controller.evaluation.runs.folder import RunFolder
from sufficit.tools.errors import ArtifactError

ray = pytest.importorskip("ray")

from sufficit.controller.evaluation.runs.cluster import RayEngine  # noqa: E402

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
