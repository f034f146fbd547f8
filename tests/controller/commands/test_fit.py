import json

import pytest
from rinse_data import contrasts
from sufficit.controller.commands.fit import fit
from sufficit.policies.rinse.artifact import load_artifact
from sufficit.policies.rinse.records import write_records
from sufficit.tools.errors import InputError
from typer import Typer
from typer.testing import CliRunner


def run(*arguments):
    app = Typer()
    app.command()(fit)
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=True)


@pytest.fixture(scope="module")
def pair_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    files = []
    for family in ("one", "two", "three"):
        files += ["--pairs", folder / f"{family}.jsonl"]
        write_records(folder / f"{family}.jsonl", contrasts(family, 24))
    return files


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache") / "features.db"


def test_fits_reports_and_writes_an_artifact(pair_files, cache, tmp_path):
    result = run(
        *pair_files, "--out", tmp_path / "a", "--latent-groups", 0, "--cache", cache, "--report", "--json"
    )
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    artifact = load_artifact(tmp_path / "a")
    assert printed["provenance"] == artifact.provenance.model_dump(mode="json")
    assert {row["family"] for row in printed["provenance"]["accuracy"]} == {"one", "two", "three"}
    assert set(printed["provenance"]["data"]) == {"one.jsonl", "two.jsonl", "three.jsonl"}
    assert printed["skipped"] == 0
    assert artifact.backbones["reranker"].model == "all-minilm-l6-v2"


def test_prints_a_table_and_keeps_a_family_away(pair_files, cache, tmp_path):
    result = run(
        *pair_files,
        *("--out", tmp_path / "a", "--latent-groups", 0, "--cache", cache, "--report", "--leave-out", "two"),
    )
    assert result.exit_code == 0, result.output
    assert "one 24, three 24" in result.stdout
    assert "average" in result.stdout
    artifact = load_artifact(tmp_path / "a")
    assert artifact.provenance.left_out == ("two",)
    assert {row.family for row in artifact.provenance.accuracy} == {"one", "three"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--leave-out", "four"], "no family 'four'"),
        (["--leave-out", "one", "--leave-out", "two", "--leave-out", "three"], "nothing to fit on"),
        (["--wording", "shout"], "no wording named 'shout'; there are: judge, answer"),
        (["--alpha", "0.001"], "held-out groups cannot set a threshold"),
    ],
)
def test_wrong_use_says_what_is_wrong_and_writes_nothing(pair_files, cache, tmp_path, arguments, message):
    result = run(*pair_files, "--out", tmp_path / "a", "--latent-groups", 0, "--cache", cache, *arguments)
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)
    assert not (tmp_path / "a").exists()


def test_a_bad_line_is_named(tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"group": "g"}\n')
    result = run("--pairs", tmp_path / "bad.jsonl", "--out", tmp_path / "a", "--latent-groups", 0)
    assert isinstance(result.exception, InputError)
    assert "bad.jsonl, line 1" in str(result.exception)
