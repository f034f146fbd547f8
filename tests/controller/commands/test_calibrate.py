import json

import pytest
from rinse_data import contrasts
from sufficit.controller.cli import app
from sufficit.controller.evaluation.journal import read_journal
from sufficit.policies.rinse.artifact import EMBEDDED, load_artifact
from sufficit.policies.rinse.records import write_records
from sufficit.tools.errors import InputError
from typer.testing import CliRunner


def run(*arguments):
    return CliRunner().invoke(app, ["calibrate", *map(str, arguments)])


@pytest.fixture
def pairs(tmp_path):
    write_records(tmp_path / "one.jsonl", contrasts("one", 10))
    write_records(tmp_path / "two.jsonl", contrasts("two", 10))
    return tmp_path / "one.jsonl", tmp_path / "two.jsonl"


def test_each_risk_has_its_threshold_and_one_goes_into_an_artifact(pairs, tmp_path):
    folder, scores, plot = tmp_path / "artifact", tmp_path / "scores.jsonl", tmp_path / "rates.svg"
    markdown = tmp_path / "rates.md"
    options = ("--out", folder, "--scores", scores, "--plot", plot, "--markdown", markdown)
    result = run(*pairs, "--alpha", "0.3", *options, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    alphas = [row["alpha"] for row in found["table"]]
    # Twenty groups can promise no risk below 1 / 21.
    assert alphas == [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5]
    for row in found["table"]:
        assert (20 * row["insufficient_rate"] + 1) / 21 <= row["alpha"]
    values = [row["value"] for row in found["table"]]
    assert values == sorted(values, reverse=True)
    written, shipped = load_artifact(folder), load_artifact(EMBEDDED)
    assert written.thresholds["content"].value == found["threshold"] != shipped.thresholds["content"].value
    assert set(written.provenance.calibrated_on) == {"one.jsonl", "two.jsonl"}
    assert plot.stat().st_size > 0
    assert "answers sufficient" in markdown.read_text()
    rows = read_journal(scores)[1]
    labels = {row["record"]: row["label"] for row in rows}
    share = sum(row["score"] >= found["threshold"] for row in rows if not row["label"]) / 20
    assert len(labels) == 40
    assert share == found["table"][alphas.index(0.3)]["insufficient_rate"]


def test_a_second_run_scores_nothing_again(pairs, tmp_path):
    scores = tmp_path / "scores.jsonl"
    run(pairs[0], "--scores", scores)
    before = scores.read_bytes()
    result = run(pairs[0], "--scores", scores)
    assert scores.read_bytes() == before
    # Rounded, the threshold could fall under a score that it is to stop.
    exact = json.loads(run(pairs[0], "--scores", scores, "--json").stdout)["threshold"]
    assert f"use it with --set rinse.threshold={exact!r}," in result.stdout


def test_too_few_groups_are_named(tmp_path):
    write_records(tmp_path / "few.jsonl", contrasts("few", 3))
    result = run(tmp_path / "few.jsonl", "--scores", tmp_path / "scores.jsonl", "--alpha", "0.1")
    assert isinstance(result.exception, InputError)
    assert "takes 9 held-out groups or more" in str(result.exception)


def test_a_folder_of_something_else_is_refused_before_anything_is_scored(pairs, tmp_path):
    result = run(pairs[0], "--scores", tmp_path / "scores.jsonl", "--out", tmp_path)
    assert isinstance(result.exception, InputError)
    assert not (tmp_path / "scores.jsonl").exists()
    assert pairs[0].exists()
