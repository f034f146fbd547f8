import asyncio
from dataclasses import dataclass, field

import pytest
from evaluations import Scripted, configuration
from prediction_rows import row
from staged import FixedSearch, FixedSufficiency, controller
from sufficit.controller.evaluation.datasets.questions import Question
from sufficit.controller.evaluation.runs.agents import (
    ControllerAgent,
    LocalEngine,
    UntimedAgent,
    ask_all,
)
from sufficit.controller.evaluation.runs.finished import Outcome
from sufficit.tools.errors import CapabilityError, InputError


def question(name, text="What is number 1?"):
    return Question(name, text, ("1",), {})


QUESTIONS = [question(str(n)) for n in range(6)]


@dataclass
class Slow:
    """Takes as many turns of the loop as it was told for each question; counts how many it does at once."""

    turns: int = 0
    models: dict = field(default_factory=lambda: {"generator": "slow"})
    asked: list = field(default_factory=list)
    busy: int = 0

    async def ask(self, question):
        self.busy += 1
        assert self.busy == 1
        for _ in range(self.turns):
            await asyncio.sleep(0)
        self.busy -= 1
        self.asked.append(question.id)
        return Outcome(row(question.id, timings={"total": 1.0}), "")


async def test_every_question_is_asked_once_by_whoever_is_free():
    quick, slow, kept = Slow(1), Slow(50), []
    await ask_all([quick, slow], QUESTIONS, kept.append)
    assert quick.asked == ["0", "2", "3", "4", "5"]
    assert slow.asked == ["1"]
    # In the order of completion, not of asking.
    assert [outcome.row.id for outcome in kept] == ["0", "2", "3", "4", "5", "1"]


async def test_an_agent_that_is_named_several_times_asks_as_many_questions_at_once():
    class Waiting(Slow):
        """Answers when three questions wait."""

        together = asyncio.Barrier(3)

        async def ask(self, question):
            await self.together.wait()
            return Outcome(row(question.id), "")

    kept = []
    async with asyncio.timeout(1):
        await ask_all([Waiting()] * 3, QUESTIONS, kept.append)
    assert len(kept) == 6


async def test_no_questions_and_more_agents_than_questions():
    kept = []
    await ask_all([Slow()], [], kept.append)
    assert kept == []
    await ask_all([Slow(), Slow(), Slow()], QUESTIONS[:1], kept.append)
    assert len(kept) == 1


async def test_the_first_error_ends_all_and_comes_as_it_is():
    class Broken(Slow):
        async def ask(self, question):
            raise CapabilityError("no scores")

    slow = Slow(1000)
    with pytest.raises(CapabilityError, match="no scores"):
        await ask_all([slow, Broken()], QUESTIONS, lambda _: None)
    assert slow.asked == []


async def test_an_outcome_that_cannot_be_kept_ends_all():
    kept = []

    def keep(outcome):
        kept.append(outcome)
        if len(kept) == 2:
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        await ask_all([Slow(1), Slow(50)], QUESTIONS, keep)
    assert len(kept) == 2


async def test_a_question_that_cannot_be_asked_is_a_failed_row():
    found = await Scripted()(configuration()).ask(question("long", "Why? " * 2000))
    assert (found.row.action, found.row.id) == ("failed", "long")
    assert found.row.error.startswith("InputError: the question has 9,999 characters")


def agent(error):
    def fail(_):
        raise error

    made = controller(FixedSearch(fail), FixedSufficiency(lambda _: 1.0))
    return ControllerAgent(made, "full", configuration().hashes, {})


async def test_a_setup_that_cannot_work_is_no_outcome():
    with pytest.raises(CapabilityError):
        await agent(CapabilityError("no scores")).ask(question("q"))


async def test_an_input_error_out_of_the_middle_of_a_run_is_an_outcome_with_what_was_found():
    found = await agent(InputError("the question is longer than the context")).ask(question("q"))
    assert found.row.action == "failed"
    assert found.row.error == "InputError: the question is longer than the context"
    assert found.row.timings["total"] >= 0.0
    assert '"kind": "started"' in found.trace


async def test_shared_work_tells_no_time_but_says_that_it_was_shared():
    inner = Slow()
    untimed = UntimedAgent(inner)
    found = await untimed.ask(question("q"))
    assert found.row == row("q")
    assert untimed.models == {"generator": "slow", "calls": "shared between configurations"}
    assert inner.models == {"generator": "slow"}


def test_workers_of_one_process_share_one_agent():
    made = []

    def make(chosen):
        made.append(chosen.name)
        return Slow()

    first, *others = LocalEngine(3, make).agents(configuration())
    assert len(others) == 2
    assert all(other is first for other in others)
    assert made == ["full"]
