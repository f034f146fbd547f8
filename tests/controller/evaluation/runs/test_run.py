"""Nothing lost, nothing counted twice: runs that are killed, run out of disk, or are another's."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from evaluations import Down, Scripted, broken, configuration, contents, evaluation, run
from sufficit.controller.evaluation.runs.agents import LocalEngine
from sufficit.controller.evaluation.runs.folder import RunFolder
from sufficit.controller.trace import Finished
from sufficit.tools.errors import CapabilityError, InputError, StorageError
from sufficit.tools.retrievers.trec import read_run

TESTS = Path(__file__).resolve().parents[3]


def started(out, *arguments):
    command = [sys.executable, str(TESTS / "evaluations.py"), str(out), *map(str, arguments)]
    return subprocess.Popen(command, cwd=TESTS, stderr=subprocess.PIPE, text=True)


def lines(file):
    return file.read_bytes().count(b"\n") if file.exists() else 0


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "unbroken"
    run(evaluation(), out)
    return out


def test_a_run_holds_rows_traces_and_rankings_in_order(unbroken):
    folder = RunFolder(unbroken)
    (rows,) = folder.read_predictions().values()
    assert [row.id for row in rows] == [f"q {n}" for n in range(12)]
    assert [row.action for row in rows[:4]] == ["answer", "answer", "failed", "answer"]
    assert rows[2].error.startswith("InputError: the question has 6,")
    first = rows[0]
    assert (first.support, first.answers, first.score) == (("doc0.md",), ("0",), 1.0)
    assert first.supported(first.pool) == {"doc0.md"}
    assert [found.source for found in first.pool] == ["doc0.md", "doc1.md", "doc2.md"]
    assert first.admitted == first.read
    assert first.stages["open"].model_calls == 2
    assert sum(cost.model_calls for cost in first.stages.values()) == first.spent["model_calls"]
    assert sum(cost.generated_tokens for cost in first.stages.values()) == first.spent["generated_tokens"]
    assert first.stages["open"].prompt_tokens > len(first.question.split())
    assert "seconds" not in first.spent
    assert first.timings["total"] > 0
    trace = folder.read_trace("full", "q 0")
    assert isinstance(trace[-1], Finished)
    assert trace[-1].answer.trace_id == first.trace_id
    assert read_run(folder.ranking("full"))["q%200"] == {"doc0.md": 1.0, "doc1.md": 0.5, "doc2.md": 1 / 3}
    traces = [json.loads(line) for line in folder.traces("full").read_text().splitlines()]
    assert {trace["hashes"]["index"] for trace in traces} == {"i" * 64}
    tags = {line.split()[-1] for line in folder.ranking("full").read_text().splitlines()}
    assert tags == {f"full-{first.hashes.settings[:8]}-aaaaaaaa-iiiiiiii-dddddddd"}
    assert sorted(path.name for path in (unbroken / "full").iterdir()) == [
        "predictions.jsonl",
        "run.trec",
        "traces.jsonl",
    ]


@pytest.mark.parametrize("workers", [1, 3])
def test_killed_again_and_again_it_yields_the_same_files(tmp_path, unbroken, workers):
    out = tmp_path / "killed"
    journal = RunFolder(out).journal("full")
    for least in (2, 6):
        process = started(out, "--delay", 0.1, "--workers", workers)
        wait_for(lambda least=least: lines(journal) > least)
        process.kill()
        process.wait()
    assert not RunFolder(out).ended("full")
    # What a kill in the middle of a line leaves behind.
    with journal.open("ab") as file:
        file.write(b'{"trace": [0, 10], "row": {"config"')
    with RunFolder(out).journal_of_traces("full").open("ab") as file:
        file.write(b'{"id": "q 9", "ev')
    told = run(evaluation(), out)
    assert told[1][2] >= 6
    assert len(told) == 2 + 12 - told[1][2]
    assert contents(out) == contents(unbroken)


def test_an_interrupt_loses_nothing(tmp_path, unbroken):
    process = started(tmp_path / "out", "--delay", 0.1)
    journal = RunFolder(tmp_path / "out").journal("full")
    wait_for(lambda: lines(journal) > 3)
    process.send_signal(signal.SIGINT)
    assert process.wait() != 0
    done = lines(journal) - 1
    assert run(evaluation(), tmp_path / "out")[1] == ("begin", "full", done, 12)
    assert contents(tmp_path / "out") == contents(unbroken)


def test_a_run_that_has_ended_is_left_alone(tmp_path):
    run(evaluation(3), tmp_path / "out")
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*.jsonl")}
    assert run(evaluation(3), tmp_path / "out") == []
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*.jsonl")} == before


def retried(count=12):
    return replace(evaluation(count), retry_failed=True)


def test_failed_questions_are_asked_again_and_the_later_outcome_counts(tmp_path, unbroken):
    out = tmp_path / "out"
    run(evaluation(), out, LocalEngine(1, Down(frozenset({"q 4", "q 7"}))))
    (rows,) = RunFolder(out).read_predictions().values()
    assert [row.id for row in rows if row.action == "failed"] == ["q 2", "q 4", "q 7"]
    assert run(evaluation(), out) == []
    assert run(retried(), out) == [
        ("loading", "full"),
        ("begin", "full", 12, 12),
        ("begin", "full", 9, 12),
        *(("full", f"q {n}") for n in (2, 4, 7)),
    ]
    assert contents(out) == contents(unbroken)


def test_what_abstained_after_a_fault_is_asked_again(tmp_path, unbroken):
    out = tmp_path / "out"
    run(evaluation(), out, LocalEngine(1, broken))
    (rows,) = RunFolder(out).read_predictions().values()
    assert [row.id for row in rows if row.action != "abstain"] == ["q 2"]  # which fails by itself
    assert all("the index is away" in row.faults[0] for row in rows if row.action == "abstain")
    assert run(evaluation(), out) == []
    run(retried(), out)
    assert contents(out) == contents(unbroken)


def test_without_a_failure_nothing_is_asked_again(tmp_path):
    run(retried(2), tmp_path / "out")
    assert run(retried(2), tmp_path / "out") == []


@pytest.mark.parametrize("again", [evaluation(), retried()])
def test_killed_while_failed_questions_are_asked_again(tmp_path, unbroken, again):
    out = tmp_path / "out"
    run(evaluation(), out, LocalEngine(1, Down(frozenset(f"q {n}" for n in range(12)))))
    process = started(out, "--delay", 0.1, "--retry-failed")
    journal = RunFolder(out).journal("full")
    header_rows_and_word = 1 + 12 + 1
    wait_for(lambda: lines(journal) > header_rows_and_word + 4)
    process.kill()
    process.wait()
    done = lines(journal) - header_rows_and_word
    told = run(again, out)
    assert told[1] == ("begin", "full", done, 12)
    assert len(told) == 2 + 12 - done
    assert contents(out) == contents(unbroken)


def test_files_that_do_not_belong_together_are_not_gone_on_with(tmp_path):
    run(evaluation(3), tmp_path / "out")
    folder = RunFolder(tmp_path / "out")
    folder.traces("full").write_text("")
    with pytest.raises(InputError, match="3 predictions and 0 traces"):
        run(retried(3), tmp_path / "out")
    assert folder.ended("full")


def test_a_kill_before_the_journal_is_gone_writes_the_files_again(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.unlink", lambda *_, **__: None)
        run(evaluation(3), tmp_path / "out")
    assert not RunFolder(tmp_path / "out").ended("full")
    assert run(evaluation(3), tmp_path / "out") == [("loading", "full"), ("begin", "full", 3, 3)]
    assert RunFolder(tmp_path / "out").ended("full")


def test_a_kill_between_the_two_journals_leaves_nothing_for_good(tmp_path):
    run(evaluation(3), tmp_path / "out")
    before = contents(tmp_path / "out")
    RunFolder(tmp_path / "out").journal_of_traces("full").write_text("{}\n")
    assert run(evaluation(3), tmp_path / "out") == []
    assert contents(tmp_path / "out") == before


def test_another_configuration_joins(tmp_path):
    run(evaluation(3), tmp_path / "out")
    both = evaluation(3, configuration(), configuration("one-round", "budget.rounds=1"))
    assert ("loading", "full") not in run(both, tmp_path / "out")
    assert list(RunFolder(tmp_path / "out").read_predictions()) == ["full", "one-round"]
    header = RunFolder(tmp_path / "out").read_header()
    assert header.configurations["one-round"].settings == {"budget.rounds": 1}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (evaluation(3, data="e" * 64), r"the questions: hash was dddddddddddd…, is eeeeeeeeeeee…"),
        (evaluation(4), "the questions: questions was 3, is 4"),
        (evaluation(3, configuration("full", "igp.threshold=0.1")), r"igp.threshold was null, is 0.1"),
        (evaluation(3, configuration("full", data="f" * 64)), r"full: hashes.data was d+…, is f+…"),
    ],
)
def test_another_run_is_named_and_left_as_it_is(tmp_path, other, message):
    run(evaluation(3), tmp_path / "out")
    before = contents(tmp_path / "out")
    with pytest.raises(InputError, match=message):
        run(other, tmp_path / "out")
    assert contents(tmp_path / "out") == before


def test_other_models_are_named(tmp_path):
    run(evaluation(3), tmp_path / "out")
    RunFolder(tmp_path / "out").predictions("full").unlink()

    def make(chosen):
        agent = Scripted()(chosen)
        return type(agent)(agent.controller, agent.config, agent.hashes, {"generator": "another"})

    with pytest.raises(InputError, match=r'models\.generator was "scripted", is "another"'):
        run(evaluation(3), tmp_path / "out", LocalEngine(1, make))


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"is not empty and holds no run\.json"):
        run(evaluation(3), tmp_path)
    with pytest.raises(InputError, match="is a file; name a folder"):
        run(evaluation(3), tmp_path / "notes.txt")
    assert contents(tmp_path) == {"notes.txt": "mine"}


def test_two_runs_into_one_folder_are_refused(tmp_path):
    process = started(tmp_path / "out", "--delay", 0.2)
    wait_for(lambda: lines(RunFolder(tmp_path / "out").journal("full")) > 1)
    with pytest.raises(InputError, match="another process is running into"):
        run(evaluation(), tmp_path / "out")
    process.kill()
    process.wait()


def test_a_full_disk_is_named_and_what_was_there_stays(tmp_path, unbroken):
    out = tmp_path / "out"
    process = started(out, "--file-limit", 30_000)
    _, words = process.communicate()
    assert process.returncode != 0
    assert "StorageError" in words
    assert "File too large; free space and start the same run again" in words
    done = lines(RunFolder(out).journal("full")) - 1
    assert 0 < done < 12
    assert run(evaluation(), out)[1] == ("begin", "full", done, 12)
    assert contents(out) == contents(unbroken)


def test_a_full_disk_at_the_end_leaves_the_journal(tmp_path, monkeypatch, unbroken):
    def full(file, *_):
        raise StorageError(f"The run {file} cannot be written: No space left on device.")

    with monkeypatch.context() as patched:
        patched.setattr("sufficit.controller.evaluation.runs.durable.write_run", full)
        with pytest.raises(StorageError):
            run(evaluation(), tmp_path / "out")
    assert not RunFolder(tmp_path / "out").ended("full")
    run(evaluation(), tmp_path / "out")
    assert contents(tmp_path / "out") == contents(unbroken)


def test_a_setup_that_cannot_work_ends_the_run_and_keeps_what_was_done(tmp_path):
    class Tired:
        models = {"generator": "scripted"}  # noqa: RUF012

        def __init__(self, agent):
            self.agent, self.left = agent, 2

        async def ask(self, question):
            self.left -= 1
            if self.left < 0:
                raise CapabilityError("the server scores no prompts")
            return await self.agent.ask(question)

    with pytest.raises(CapabilityError):
        run(evaluation(4), tmp_path / "out", LocalEngine(1, lambda chosen: Tired(Scripted()(chosen))))
    assert run(evaluation(4), tmp_path / "out")[1] == ("begin", "full", 2, 4)


def test_several_workers_ask_at_once(tmp_path):
    began = time.monotonic()
    run(evaluation(12), tmp_path / "one", LocalEngine(1, Scripted(0.02)))
    alone = time.monotonic() - began
    began = time.monotonic()
    run(evaluation(12), tmp_path / "six", LocalEngine(6, Scripted(0.02)))
    assert time.monotonic() - began < alone
    assert contents(tmp_path / "one") == contents(tmp_path / "six")
