"""`sufficit index`, and a corpus of two documents for it."""

import json
from pathlib import Path
from typing import Any

from sufficit.controller.commands.index import app
from typer.testing import CliRunner, Result


def run(*arguments: object, fails: bool = False) -> Result:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert fails or result.exit_code == 0, (result.output, result.exception)
    return result


def run_json(*arguments: object) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def write_corpus(path: Path) -> Path:
    records = [
        {"_id": "h", "title": "Harbour", "text": "Ships enter by the north channel."},
        {"_id": "l", "text": "A lamp."},
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path
