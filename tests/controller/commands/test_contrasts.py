import json
from pathlib import Path

import pytest
from native_files import nq, write_lines
from sufficit.controller.commands.contrasts import app
from sufficit.policies.rinse.records import read_records
from sufficit.tools.errors import InputError
from typer.testing import CliRunner


def _build(path: Path, out: Path, *more: str):
    arguments = ["build", str(path), "--construction", "substitution", "--family", "f", "--out", str(out)]
    return CliRunner().invoke(app, [*arguments, *more])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "nq.jsonl", [*(nq(number) for number in range(4)), "{broken"])


def test_build_writes_records_and_says_what_it_did(path: Path, tmp_path: Path) -> None:
    result = _build(path, tmp_path / "out.jsonl")
    assert result.exit_code == 0
    assert "NQ-oracle" in result.stdout
    assert "row 5:" in result.stdout
    assert "4 groups, 8 records, 4 pairs" in " ".join(result.stdout.split())
    assert len(list(read_records(tmp_path / "out.jsonl"))) == 8


def test_json_is_one_object(path: Path, tmp_path: Path) -> None:
    result = _build(path, tmp_path / "out.jsonl", "--json", "--groups", "2", "--seed", "5")
    summary = json.loads(result.stdout)
    assert (summary["groups"], summary["records"], summary["pairs"]) == (2, 4, 2)
    assert summary["sources"][0]["format"] == "NQ-oracle"
    assert summary["sources"][0]["bad_rows"] == 1
    assert summary["sources"][0]["first_bad_rows"][0]["row"] == 5


def test_wrong_use(path: Path, tmp_path: Path) -> None:
    assert _build(path, tmp_path / "out.jsonl", "--groups", "0").exit_code == 2
    assert "the family is empty" in str(_build(path, tmp_path / "out.jsonl", "--family", " ").exception)
    assert isinstance(_build(tmp_path / "none", tmp_path / "out.jsonl").exception, InputError)
    assert not (tmp_path / "out.jsonl").exists()
