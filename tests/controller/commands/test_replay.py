"""Replaying recorded runs from files; their models are made up, for a replay asks none."""

import json
from pathlib import Path

import pytest
from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.cli import app
from sufficit.controller.settings import load
from sufficit.controller.trace import write_trace
from sufficit.tools.errors import SettingsError, TraceError
from typer.testing import CliRunner, Result

TEXTS = passages("The Rhine rises in the Alps.", "The Po rises on Monviso.")


def steps(prompt):
    return ((-0.01, -6.0),) if "Alps" in prompt.text else ((-0.7, -0.7),)


@pytest.fixture
async def trace(tmp_path: Path) -> Path:
    loop = controller(
        FixedSearch(lambda query: list(TEXTS)),
        FixedSufficiency(lambda _: 1.0),
        ScriptedGenerator(answer=lambda p: "the Alps" if "Alps" in p.text else "[bold]\x1b[2J", steps=steps),
        load(["igp.guard=false"], environment={}).settings,
    )
    _, events = await loop.answer("Where does the Rhine rise?")
    write_trace(tmp_path / "trace.jsonl", events)
    return tmp_path / "trace.jsonl"


def replay(trace: Path, *options: str, **environment: str) -> Result:
    arguments = ["replay", str(trace), *options]
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "300", **environment})


def test_the_recorded_settings_decide_the_same_whatever_others_are_set(trace):
    plain = replay(trace, SUFFICIT_TRUSTMARGIN__TAU="5")
    events = len(trace.read_text().splitlines())
    assert (plain.exit_code, plain.stdout) == (0, f"{events} events, all the same\n")
    assert json.loads(replay(trace, "--json").stdout) == {"same": True, "diverged": None, "differences": []}


def test_other_settings_are_exit_code_1_and_every_difference_is_a_line(trace):
    done = replay(trace, "--set", "trustmargin.tau=5")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    (source,) = [line for line in lines if " verdict.source: " in line]
    assert source.endswith("(arbitrated) verdict.source: recorded 'rag', now 'direct'")
    # What a model wrote commands no terminal and is no markup.
    assert "\x1b" not in done.stdout
    assert any("now '[bold]" in line for line in lines)
    told = json.loads(replay(trace, "--json", "--set", "trustmargin.tau=5").stdout)
    assert (told["same"], told["diverged"], len(told["differences"])) == (False, None, len(lines))
    assert {"event", "kind", "key", "recorded", "replayed"} == told["differences"][0].keys()


def test_what_a_file_names_commands_no_terminal(trace):
    *others, last = trace.read_text().splitlines()
    event = json.loads(last)
    event["cost"]["[red]\x1b[2J"] = 1
    trace.write_text("\n".join([*others, json.dumps(event)]) + "\n")
    done = replay(trace)
    assert done.exit_code == 1
    assert done.stdout.startswith(f"event {len(others) + 1} (finished) cost.[red]")
    assert "\x1b" not in done.stdout


def test_where_nobody_measured_it_stops_and_says_so(trace):
    done = replay(trace, "--set", "rinse.threshold=99")
    assert done.exit_code == 1
    assert "the replay ends after " in done.stdout
    assert "nothing more was recorded" in done.stdout
    told = json.loads(replay(trace, "--json", "--set", "rinse.threshold=99").stdout)
    assert "nothing more was recorded" in told["diverged"]


def test_the_first_differences_are_shown_and_the_others_counted(trace, monkeypatch):
    monkeypatch.setattr("sufficit.controller.commands.replay.SHOWN", 2)
    shown = replay(trace, "--set", "trustmargin.tau=5").stdout.splitlines()
    all_of_them = json.loads(replay(trace, "--json", "--set", "trustmargin.tau=5").stdout)["differences"]
    assert len(shown) == 3
    assert shown[-1] == f"and {len(all_of_them) - 2} more; --json lists all"


def test_an_unknown_setting_and_half_a_trace_are_wrong_use(trace):
    assert isinstance(replay(trace, "--set", "igp.nope=1").exception, SettingsError)
    trace.write_text("".join(trace.read_text().splitlines(keepends=True)[:-1]))
    assert isinstance(replay(trace).exception, TraceError)
