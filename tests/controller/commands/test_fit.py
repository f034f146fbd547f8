import asyncio
import json

import pytest
from rinse_data import contrasts
from sufficit.controller.commands.fit import fit
from sufficit.controller.evaluation import fitting
from sufficit.controller.evaluation.contrasts.scorers import load_rinse
from sufficit.controller.evaluation.readers.lessons import Lesson
from sufficit.controller.settings import Settings
from sufficit.policies.rinse.artifact import load_artifact
from sufficit.policies.rinse.records import write_records
from sufficit.tools.errors import InputError, UsageError
from tiny_encoder import save_classifier
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
    assert (printed["skipped"], printed["taught"]) == (0, 0)
    assert artifact.backbones["reranker"].model == "reranker-minilm"


def test_any_cross_encoder_serves_as_reranker(pair_files, tmp_path):
    folder = save_classifier(tmp_path / "classifier")
    chosen = ("--set", f"rinse.reranker={folder}", "--groups", 8)
    result = run(
        *pair_files, "--out", tmp_path / "a", "--latent-groups", 0, "--cache", tmp_path / "c", *chosen
    )
    assert result.exit_code == 0, result.output
    artifact = load_artifact(tmp_path / "a")
    assert artifact.backbones["reranker"].model == str(folder)
    assert artifact.backbones["wordpieces"].model == "all-minilm-l6-v2"
    given = {"reranker": str(folder), "artifact": str(tmp_path / "a")}
    rinse, _, _ = load_rinse(Settings.model_validate({"rinse": given}))
    record = contrasts("one", 1)[0]
    report = asyncio.run(rinse.score(record.question, record.passages))
    assert report.score is not None


def test_questions_that_the_reranker_has_learned_are_left_aside(pair_files, cache, tmp_path, monkeypatch):
    taught = {"reranker": Lesson(frozenset({"one"}), 0.5, 17), "span": Lesson(frozenset({"two"}), 1.0, 17)}
    monkeypatch.setattr(fitting, "lessons", lambda settings: taught)
    result = run(*pair_files, "--out", tmp_path / "a", "--latent-groups", 0, "--cache", cache, "--report")
    assert result.exit_code == 0, result.output
    provenance = load_artifact(tmp_path / "a").provenance
    assert 0 < provenance.groups["one"] < 24 == provenance.groups["two"]
    assert "records on whose questions reranker-minilm was trained" in result.stderr
    assert {row.family for row in provenance.accuracy} == {"two", "three"}
    taught["reranker"] = Lesson(frozenset({"one", "two", "three"}), 1.0, 17)
    result = run(*pair_files, "--out", tmp_path / "b", "--latent-groups", 0, "--cache", cache)
    assert "the reranker was trained on all these questions" in str(result.exception)


def test_a_family_without_a_row_is_named(pair_files, cache, tmp_path, monkeypatch):
    monkeypatch.setattr(
        fitting, "lessons", lambda settings: {"reranker": Lesson(frozenset({"one"}), 0.5, 17)}
    )
    result = run(*pair_files, "--out", tmp_path / "a", "--latent-groups", 0, "--cache", cache, "--report")
    assert "no accuracy of one: reranker-minilm was trained on it" in result.stderr


def test_accuracies_measured_elsewhere_are_recorded(pair_files, cache, tmp_path):
    accuracy = {"value": 0.75, "low": 0.6, "high": 0.9, "groups": 4, "pairs": 9}
    row = {"family": "one", "construction": "deletion", "seen": False, "accuracy": accuracy}
    file = tmp_path / "ablation.json"
    file.write_text(json.dumps({"sets": [row | {"scorer": name} for name in ("content", "content+joint")]}))
    common = [*pair_files, "--out", tmp_path / "a", "--latent-groups", 0, "--cache", cache]
    result = run(*common, "--accuracy", file)
    assert result.exit_code == 0, result.output
    # The artifact has no joint reader: the sum with it is not its own.
    rows = load_artifact(tmp_path / "a").provenance.accuracy
    assert [(row.scorer, row.family, row.accuracy) for row in rows] == [("content", "one", 0.75)]
    result = run(*common, "--accuracy", file, "--report")
    assert isinstance(result.exception, UsageError)
    assert "give one of them" in str(result.exception)


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
        (["--alpha", "0.001"], "takes 999 held-out groups or more"),
    ],
)
def test_wrong_use_says_what_is_wrong_and_writes_nothing(pair_files, cache, tmp_path, arguments, message):
    result = run(*pair_files, "--out", tmp_path / "a", "--latent-groups", 0, "--cache", cache, *arguments)
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)
    assert not (tmp_path / "a").exists()


def test_too_few_groups_are_refused_before_anything_is_measured(pair_files, tmp_path):
    result = run(*pair_files, "--out", tmp_path / "a", "--groups", 2, "--cache", tmp_path / "c")
    assert "takes 4 held-out groups or more" in str(result.exception)
    assert "without a latent reader: rinse.encoder names no model" in result.stderr
    assert not (tmp_path / "c").exists()


def test_two_files_of_one_name_are_refused(pair_files, tmp_path):
    twin = tmp_path / "twin" / pair_files[1].name
    twin.parent.mkdir()
    write_records(twin, contrasts("four", 4))
    result = run(*pair_files, "--pairs", twin, "--out", tmp_path / "a")
    assert isinstance(result.exception, InputError)
    assert "two pair files are called one.jsonl" in str(result.exception)


def test_a_bad_line_is_named(tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"group": "g"}\n')
    result = run("--pairs", tmp_path / "bad.jsonl", "--out", tmp_path / "a", "--latent-groups", 0)
    assert isinstance(result.exception, InputError)
    assert "bad.jsonl, line 1" in str(result.exception)
