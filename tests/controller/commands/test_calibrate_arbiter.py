import json
import random

import pytest
from sufficit.controller.cli import app
from sufficit.controller.evaluation.arbitration.rows import ArbitrationHeader, ArbitrationRow, write_rows
from sufficit.controller.settings import load
from sufficit.policies.trustmargin import TrustMarginSettings, verdict_by_margin
from sufficit.policies.types import Likelihoods
from sufficit.tools.errors import InputError, UsageError
from typer.testing import CliRunner

SETTINGS = TrustMarginSettings()
HEADER = ArbitrationHeader(generator="g", prompts="p", answer_tokens=8, trustmargin=SETTINGS, source={})


def row(number, prior, variant=""):
    direct, rag = ("Bergen", "Oslo") if prior > -4.25 else ("Oslo", "Bergen")
    verdict = verdict_by_margin(Likelihoods(0.0, prior, 0.0, 0.0, 0.0, 0.0), direct, rag, SETTINGS)
    return ArbitrationRow(
        id=str(number), variant=variant, question="Where?", answers=("Oslo",), direct=direct, rag=rag,
        verdict=verdict,
    )  # fmt: skip


@pytest.fixture
def rows(tmp_path):
    draws = random.Random(0)
    plain = [row(n, draws.uniform(-8, 0)) for n in range(100)]
    varied = [row(n, draws.uniform(-8, 0), "corruption=0.5") for n in range(100)]
    write_rows(tmp_path / "rows.jsonl", HEADER, [*plain, *varied])
    return tmp_path / "rows.jsonl"


def sufficit(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def test_the_chosen_setting_can_be_used_as_a_settings_file(rows, tmp_path):
    path, plot = tmp_path / "arbiter.toml", tmp_path / "grid.svg"
    result = sufficit("calibrate-arbiter", rows, "--out", path, "--plot", plot)
    assert "100 labelled questions, the choice matters on 100" in result.stdout
    assert "It is better than the published setting." in result.stdout
    chosen = load(config=path, environment={}).settings.trustmargin
    assert chosen.tau in {-4.5, -4.0}
    assert path.read_text().startswith(
        "# TrustMargin's lambda and tau, chosen on 100 labelled questions by F1."
    )
    assert plot.read_text().startswith("<?xml")


def test_a_file_that_stands_there_is_refused_before_anything_is_computed(rows, tmp_path):
    path, plot = tmp_path / "arbiter.toml", tmp_path / "grid.svg"
    path.write_text("mine")
    with pytest.raises(InputError, match="exists"):
        sufficit("calibrate-arbiter", rows, "--out", path, "--plot", plot)
    assert not plot.exists()


def test_a_path_is_shown_as_it_is(rows, tmp_path):
    path = tmp_path / "a[b]c.toml"
    assert f"use them with --config {path}" in sufficit("calibrate-arbiter", rows, "--out", path).stdout


def test_a_seed_below_zero_is_wrong_use(rows):
    assert sufficit("calibrate-arbiter", rows, "--seed", "-1").exit_code == UsageError.exit_code


def test_everything_as_json_and_the_settings_on_stdout(rows):
    report = json.loads(
        sufficit("calibrate-arbiter", rows, "--measure", "em", "--folds", "4", "--json").stdout
    )
    assert (report["measure"], report["labelled"], len(report["folds"])) == ("EM", 100, 4)
    assert report["gain"]["low"] > 0
    text = sufficit("calibrate-arbiter", rows).stdout
    assert f"[trustmargin]\nweight = {report['setting']['weight']}" in text


def test_a_grid_of_ones_own(rows):
    result = sufficit(
        "calibrate-arbiter", rows, "--lambda", "0.5", "--tau", "-1.5", "--tau", "-3", "--tau", "-3.5"
    )
    assert "It lies at the edge of the grid" in result.stdout
    only = sufficit("calibrate-arbiter", rows, "--lambda", "0.5", "--tau", "-1.5").stdout
    assert "Whether it is better than the published setting is open" in only


def test_a_setting_that_loses_is_not_recommended_anywhere(rows, tmp_path):
    path = tmp_path / "arbiter.toml"
    result = sufficit("calibrate-arbiter", rows, "--lambda", "0", "--tau", "1", "--out", path)
    assert "keep that one" in result.stdout
    assert f"settings: {path}; the published ones are better" in result.stdout
    assert "--config" not in result.stdout
    assert "\n# Choosing loses to the published setting on held-out questions: keep that one.\n" in (
        path.read_text()
    )
    assert load(config=path, environment={}).settings.trustmargin.tau == 1.0


@pytest.mark.parametrize("wrong", [("--lambda", "-1"), ("--tau", "nan")])
def test_a_grid_out_of_range_is_refused(rows, wrong):
    with pytest.raises(InputError, match="finite numbers"):
        sufficit("calibrate-arbiter", rows, *wrong)
