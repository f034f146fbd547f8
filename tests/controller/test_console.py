import json
import math

import pytest
from sufficit.controller.console import complain, print_json, say


def test_an_error_goes_to_stderr_with_its_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    complain("install it: pip install 'sufficit[web]' [bold]")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: install it: pip install 'sufficit[web]' [bold]\n"


def test_nothing_that_is_said_commands_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\x1b[31mb\x07\x9bc\u202ed\nnext [red]:smile:")
    assert capsys.readouterr().out == "a·[31mb··c·d\nnext [red]:smile:\n"


def test_json_is_one_line_that_any_terminal_and_parser_takes(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"risk": math.inf, "text": "Zürich \U0001f409\nnext"})
    (line,) = capsys.readouterr().out.splitlines()
    assert line.isascii()
    assert json.loads(line) == {"risk": "Infinity", "text": "Zürich \U0001f409\nnext"}
