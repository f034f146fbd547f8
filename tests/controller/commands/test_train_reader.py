import asyncio
import json

import pytest
from native_files import musique, nq, write_lines
from sufficit.controller.commands.train_reader import train_reader
from sufficit.controller.evaluation.readers.sample import sample_scores
from sufficit.tools.errors import InputError
from sufficit.tools.models import store
from sufficit.tools.readers.joint import FusedJointReader
from sufficit.tools.readers.span import ExtractiveSpanReader
from sufficit.tools.rerankers.projected import ProjectedReranker
from tiny_encoder import save_encoder
from typer import Typer
from typer.testing import CliRunner


def run(*arguments):
    app = Typer()
    app.command()(train_reader)
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=True)


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    store.install("all-minilm-l6-v2")
    folder = tmp_path_factory.mktemp("data")
    hops = write_lines(folder / "hops.jsonl", [musique(k) for k in range(6)])
    web = write_lines(folder / "web.jsonl", [nq(k) for k in range(4)])
    base = save_encoder(folder / "encoder")
    return ["--data", f"hops={hops}", "--data", f"web={web}", "--base", base, "--steps", 3, "--batch", 2]


def test_each_kind_is_trained_and_loads(arguments, tmp_path):
    for kind in ("span", "reranker", "joint"):
        result = run(kind, *arguments, "--out", tmp_path / kind, "--json")
        assert result.exit_code == 0, result.output
        printed = json.loads(result.stdout)
        stored = json.loads((tmp_path / kind / "reader.json").read_text())
        assert stored["provenance"] == {key: printed[key] for key in stored["provenance"]}
        assert printed["families"] == ["hops", "web"]
        assert printed["training"]["steps"] == 3
        assert sample_scores(kind, tmp_path / kind) == [pytest.approx(row) for row in printed["sample"]]
        assert not (tmp_path / f"{kind}.checkpoint").exists()
    texts = ["Ada Brook is a painter.", "Nothing here."]
    span = ExtractiveSpanReader.load(str(tmp_path / "span"))
    assert asyncio.run(span.margins("who", texts)).shape == (2,)
    reranker = ProjectedReranker.load(str(tmp_path / "reranker"))
    assert asyncio.run(reranker.score(["who"], texts)).shape == (1, 2)
    joint = FusedJointReader.load(str(tmp_path / "joint"))
    assert isinstance(asyncio.run(joint.sufficiency("who", texts)), float)


def test_the_same_command_makes_the_same_reader(arguments, tmp_path):
    for name in ("a", "b"):
        assert run("span", *arguments, "--out", tmp_path / name).exit_code == 0
    weights = [(tmp_path / name / "reader.safetensors").read_bytes() for name in ("a", "b")]
    assert weights[0] == weights[1]


def test_a_family_is_left_out_and_said_so(arguments, tmp_path):
    result = run("span", *arguments, "--leave-out", "hops", "--items", 3, "--out", tmp_path / "r")
    assert result.exit_code == 0, result.output
    assert "trained on web 3" in result.stdout
    provenance = json.loads((tmp_path / "r" / "reader.json").read_text())["provenance"]
    assert provenance["left_out"] == ["hops"]
    assert provenance["families"] == ["web"]


def test_data_without_a_family_is_refused(arguments, tmp_path):
    result = run("span", "--data", "hops.jsonl", "--out", tmp_path / "r")
    assert isinstance(result.exception, InputError)
    assert "FAMILY=FILE" in str(result.exception)
