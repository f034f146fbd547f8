"""`sufficit eval cache` with the real RINSE and the real index, on a stream of made-up paragraphs."""

import json

import pytest
from sufficit.controller.cli import app
from sufficit.tools.errors import InputError
from typer.testing import CliRunner

RIVERS = {"Rhine": "Alps", "Danube": "Black Forest", "Volga": "Valdai Hills", "Loire": "Ardèche"}


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def questions(tmp_path):
    """SQuAD 2.0's format: a paragraph a river, with a question that it answers and one that it does not."""
    paragraphs = [
        {
            "context": f"The {river} is a river. It rises in the {place}.",
            "qas": [
                {"id": river, "question": f"Where does the {river} rise?", "answers": [{"text": place}]},
                {"id": f"{river}0", "question": f"Who sailed the {river} first?", "answers": [],
                 "is_impossible": True},
            ],
        }
        for river, place in RIVERS.items()
    ]  # fmt: skip
    file = tmp_path / "rivers.json"
    file.write_text(json.dumps({"data": [{"title": "Rivers", "paragraphs": paragraphs}]}))
    return file


def test_build_then_compare(questions, tmp_path):
    stream, rows = tmp_path / "stream.jsonl", tmp_path / "rows.jsonl"
    built = run("eval", "cache", "build", questions, "--out", stream, "--events", 8, "--json")
    assert json.loads(built.stdout)["events"] == 8
    page, plot = tmp_path / "page.md", tmp_path / "plot.svg"
    compared = ("eval", "cache", "--stream", stream, "--out", rows, "--levels", 2)
    result = run(*compared, "--markdown", page, "--plot", plot, "--json")
    report = json.loads(result.stdout)
    lines = {line["method"]: line for line in report["lines"]}
    assert set(lines) == {
        "sufficit", "node as set", "node by RINSE alone", "exact question", "cosine of questions",
        "cosine of questions, passages shared", "cosine of passages", "best possible",
    }  # fmt: skip
    # What knows the support is never wrong.
    best = lines["best possible"]["best"]
    assert best["wrong"]["value"] == 0.0
    assert len(lines["node by RINSE alone"]["points"]) == 3
    assert "Fetches saved with at most 5% of hits wrong" in page.read_text()
    assert plot.exists()
    before = rows.read_bytes()
    assert json.loads(run(*compared, "--json").stdout)["lines"] == report["lines"]
    assert rows.read_bytes() == before
    assert "node by RINSE alone" in run(*compared).stdout


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(InputError, match="--stream"):
        run("eval", "cache")
    assert "build" in run("eval", "cache", "--help").stdout
