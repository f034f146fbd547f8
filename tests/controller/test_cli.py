"""The command line as a process: messages of one or two lines, exit codes, nothing but results on stdout."""

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
