"""The command line as a process, from its first import on."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["sufficit.controller.cli", "typer"])
def test_an_interruption_is_one_line_from_the_first_import_on(module: str):
    code = f"""
import os, signal, sys
class Interruption:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interruption())
from sufficit.controller.__main__ import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")
