"""`examples/evaluate.py` as it stands, with its real models, on one question."""

import json
import runpy
from pathlib import Path

import pytest
from sufficit.tools.errors import InputError

ROOT = Path(__file__).parents[2]


def test_it_is_about_thirty_lines():
    assert sum(bool(line.strip()) for line in (ROOT / "examples" / "evaluate.py").open()) <= 32


async def test_three_configurations_are_run_and_compared(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    example = runpy.run_path(str(ROOT / "examples" / "evaluate.py"))
    await example["main"](1)
    shown = capsys.readouterr().out
    assert shown.count("pyramids of Giza") == 3
    assert "no-rinse against full" in shown
    report = json.loads((tmp_path / ".demo" / "evaluation" / "report.json").read_text())
    full, always, gate = report["summaries"]
    assert [one["configuration"] for one in (full, always, gate)] == ["full", "no-rinse", "similarity-gate"]
    assert [one["failed"] for one in (full, always, gate)] == [0, 0, 0]
    assert always["coverage"] == 1
    await example["main"](1)
    assert "pyramids of Giza" not in capsys.readouterr().out
    with pytest.raises(InputError, match="holds another run"):
        await example["main"](2)
