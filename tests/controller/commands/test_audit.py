import json
from dataclasses import replace

import pytest
from rinse_data import contrasts
from sufficit.controller.cli import app
from sufficit.policies.rinse.records import write_records
from typer.testing import CliRunner


@pytest.fixture
def pairs(tmp_path):
    answered = [
        replace(r, answers=("mayor",) if n % 4 < 2 else ("nobody",)) for n, r in enumerate(contrasts("f", 8))
    ]
    write_records(tmp_path / "pairs.jsonl", answered)
    return tmp_path / "pairs.jsonl"


def run(*arguments):
    return CliRunner().invoke(app, ["contrasts", *map(str, arguments)])


def test_cues_and_scorers_where_cues_are_level(pairs, tmp_path):
    scores = tmp_path / "s.jsonl"
    assert run("score", pairs, "--scorer", "idf-overlap", "--out", scores).exit_code == 0
    result = run("audit", pairs, "--scores", scores, "--markdown", tmp_path / "a.md")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "a.md").read_text()
    assert "evidence only +20" in page
    assert "| f made_up | answer string on both sides | 4 |" in page
    few = run("audit", pairs, "--groups", 4, "--json")
    assert "f made_up: some groups got" in few.stderr
    found = json.loads(few.stdout)
    assert {(row["cue"], row["added"]) for row in found["cues"]} >= {
        ("passage count", None), ("question only", None), ("minimum IDF coverage", 20), ("evidence only", 0)
    }  # fmt: skip
    assert found["cues"][0]["accuracy"]["pairs"] == 4
    assert found["controlled"] == []


def test_grow_scores_every_count(pairs, tmp_path):
    arguments = (pairs, "--scorer", "idf-overlap", "--out", tmp_path / "grown")
    result = run("grow", *arguments, "--markdown", tmp_path / "g.md")
    assert result.exit_code == 0, result.output
    assert "idf-overlap +20" in result.stdout
    assert "some groups got" not in result.stderr
    assert "Difference from idf-overlap +0" in (tmp_path / "g.md").read_text()
    assert len(list((tmp_path / "grown").iterdir())) == 5
    found = json.loads(run("grow", *arguments, "--json").stdout)
    assert len(found["overall"]) == 5
    assert len([row for row in found["differences"] if row["family"] is None]) == 4


def test_grow_says_where_the_pool_is_too_small(pairs, tmp_path):
    result = run("grow", pairs, "--scorer", "idf-overlap", "--groups", 4, "--out", tmp_path / "grown")
    assert result.exit_code == 0, result.output
    assert "f made_up: some groups got" in result.stderr
    assert "of 20 passages, all there were" in result.stderr
