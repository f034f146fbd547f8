import json
import os

import pytest
from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.cli import app
from sufficit.controller.settings import load
from sufficit.controller.trace import write_trace
from sufficit.tools.errors import InputError, UsageError
from typer.testing import CliRunner

TEXTS = passages("The Rhine rises in the Alps.", "The Po rises on Monviso.")


@pytest.fixture
async def traces(tmp_path):
    """Three runs, oldest first; in the last one the generator is certain of nothing."""
    for number, certain in enumerate((True, True, False)):
        loop = controller(
            FixedSearch(lambda query: list(TEXTS)),
            FixedSufficiency(lambda _: 1.0),
            ScriptedGenerator(
                steps=lambda prompt, certain=certain: (
                    ((-0.01, -6.0),) if certain and "Alps" in prompt.text else ((-0.7, -0.7),)
                )
            ),
            load(["igp.top_k=2", "igp.guard=false"], environment={}).settings,
        )
        file = tmp_path / f"{9 - number}.jsonl"
        write_trace(file, (await loop.answer(f"Where does the Rhine rise? {number}"))[1])
        os.utime(file, (number, number))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["monitor", *map(str, arguments)], catch_exceptions=False)


async def test_windows_run_from_the_oldest_trace_to_the_newest(traces):
    windows = json.loads(run(traces, "--window", 2, "--json").stdout)
    assert [window["questions"] for window in windows] == [2, 1]
    assert [window["pass_rate"]["mean"] for window in windows] == [0.5, 0.0]
    assert [window["empty"] for window in windows] == [0.0, 1.0]
    assert windows[0]["gain"]["high"] > 0.9 > windows[1]["gain"]["high"] == 0.0


async def test_the_last_window_as_metrics(traces):
    text = run(traces, "--window", 1, "--metrics").stdout
    assert "sufficit_igp_questions 1\n" in text
    assert 'sufficit_igp_pass_rate{stat="mean"} 0\n' in text


async def test_a_table_for_people(traces):
    text = run(*traces.glob("*.jsonl")).stdout
    assert "pass rate" in text
    assert "33%" in text


def test_without_traces_it_says_what_to_do(tmp_path):
    with pytest.raises(InputError, match="there is no trace"):
        run(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        run(tmp_path / "x")


async def test_a_trace_that_is_named_twice_counts_once(traces):
    (window,) = json.loads(run(traces, traces / "9.jsonl", "--json").stdout)
    assert window["questions"] == 3


async def test_one_format_at_a_time(traces):
    with pytest.raises(UsageError, match="--metrics and --json"):
        run(traces, "--metrics", "--json")
