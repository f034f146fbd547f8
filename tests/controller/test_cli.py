"""The command line as a process: messages of one or two lines, exit codes, nothing but results on stdout."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SUFFICIT = Path(sys.executable).parent / "sufficit"


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SUFFICIT, *arguments], check=False, capture_output=True, text=True, cwd=cwd, timeout=120
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["settings", "--set", "igp.topm=1"], "unknown setting igp.topm"),
        (["settings", "--set", "budget.rounds=0"], "budget.rounds = 0"),
        (["replay", "absent.jsonl"], "cannot read the trace absent.jsonl"),
        (["index", "info", "--index", "absent"], "absent"),
        (["index", "build", "absent.jsonl", "--index", "x"], "absent.jsonl"),
        (["fit", "--pairs", "absent.jsonl", "--out", "x"], "absent.jsonl"),
        (["ask", "Why?", "--index", "absent"], "absent"),
    ],
)
def test_wrong_use_is_told_in_two_lines_with_exit_code_2(tmp_path: Path, arguments: list[str], message: str):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.replace("\n", " ")
    assert len(done.stderr.strip().splitlines()) <= 2
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [["nonsense"], ["ask"], ["settings", "--nope"]])
def test_unknown_commands_and_options_are_exit_code_2(tmp_path: Path, arguments: list[str]):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_every_command_explains_itself(tmp_path: Path):
    from sufficit.controller.cli import app
    from typer.main import get_command

    def help_texts(command, path: str):
        assert command.help, path
        for name, below in getattr(command, "commands", {}).items():
            help_texts(below, f"{path} {name}")

    help_texts(get_command(app), "sufficit")


def test_an_output_that_cannot_be_written_is_one_line(tmp_path: Path):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [SUFFICIT, "settings"], check=False, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120
        )
    assert done.returncode == 1
    assert done.stderr.strip().splitlines() == ["error: No space left on device: the output"]


def test_json_is_json_also_where_a_value_is_infinite(tmp_path: Path):
    done = run("settings", "--json", "--set", "igp.threshold=-inf", cwd=tmp_path)

    def refuse(constant: str):
        raise AssertionError(constant)

    assert json.loads(done.stdout, parse_constant=refuse)["igp.threshold"]["value"] == "-Infinity"


def test_a_missing_index_is_told_before_any_model_is_loaded(tmp_path: Path):
    code = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
sys.argv = ["sufficit", "ask", "Why?", "--index", "absent"]
from sufficit.controller.__main__ import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 2
    assert "There is no index at absent" in done.stderr


@pytest.mark.parametrize("question", ["", " ", "x" * 100_000])
def test_a_bad_question_is_refused_before_anything_is_loaded(tmp_path: Path, question: str):
    done = run("ask", question, "--index", "absent", cwd=tmp_path)
    assert done.returncode == 2
    assert "question" in done.stderr
