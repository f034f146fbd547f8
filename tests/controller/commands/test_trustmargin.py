"""The whole of `eval trustmargin`, on the embedded generator and a small index of an invented valley."""

import json

import pytest
from sufficit.controller.cli import app
from sufficit.controller.evaluation.arbitration import load as arbitration_load
from sufficit.controller.evaluation.arbitration.rows import read_rows
from sufficit.tools.errors import InputError, UsageError
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.types import Passage
from typer.testing import CliRunner

VALLEY = {
    "Lorn mill": "The mill of Lorn was built by Agda Venn in 1731. It grinds barley.",
    "Agda Venn": "Agda Venn was a carpenter from Tesk. She built three mills.",
    "Tesk": "Tesk is a village on the river Ombel. Its market is on Tuesdays.",
    "Ombel": "The river Ombel rises at Mount Grau and is 40 kilometres long.",
    "Grau": "Mount Grau is 2,114 metres high. Snow lies on it until June.",
    "Lorn": "Lorn has two bakeries and a school of music.",
}
QUESTIONS = [
    {"id": "mill", "question": "Who built the mill of Lorn?", "answers": ["Agda Venn"]},
    {"question": "Nobody has answered this one."},
]


@pytest.fixture
def valley(tmp_path, generator, monkeypatch):
    """Folder with an index and a question file; the model is loaded once for all commands."""
    monkeypatch.setattr(arbitration_load, "load_generator", lambda settings: generator)
    folder = tmp_path / "valley"
    passages = [Passage("0", text, title, title) for title, text in VALLEY.items()]
    EmbeddedIndex.build(folder / "index", passages)
    (folder / "questions.jsonl").write_text("".join(json.dumps(item) + "\n" for item in QUESTIONS))
    return folder


def run(folder, out, *arguments, catch=False):
    base = ("eval", "trustmargin", folder / "questions.jsonl", "--index", folder / "index", "--out", out)
    return CliRunner().invoke(app, list(map(str, (*base, *arguments))), catch_exceptions=catch)


def test_a_run_from_index_to_report(valley, tmp_path):
    out, page, plots = tmp_path / "o.jsonl", tmp_path / "page.md", tmp_path / "plots"
    arguments = (
        "--passages", 1, "--pipeline", "rag", "--pipeline", "flare", "--corruption", "0,1",
        "--set", "generator.answer_tokens=6",
        "--markdown", page, "--plots", plots,
    )  # fmt: skip
    result = run(valley, out, *arguments, "--json")
    report = json.loads(result.stdout)
    assert "left out 1 questions without an answer" in result.stderr
    assert report["coverage"]["questions"] == 1
    assert report["coverage"]["failed"] == {}
    means = {method["name"]: method["f1"]["value"] for method in report["diagnostics"]["methods"]}
    assert means["oracle"] >= max(means["Direct"], means["RAG"], means["TrustMargin"])
    assert [level["share"] for level in report["levels"]] == [0.0, 1.0]
    assert [one["pipeline"] for one in report["pipelines"]] == ["rag", "flare"]
    assert {file.name for file in plots.iterdir()} == {"grid.svg", "recovery.svg", "corruption.svg"}
    assert page.read_text().startswith("## TrustMargin\n\n### Coverage: 1 of 1 questions")

    header, rows = read_rows(out)
    assert header.source["pipeline"] == "rag"
    assert [(one.id, one.variant) for one in rows] == [
        ("mill", ""), ("mill", "pipeline=flare"), ("mill", "corruption=1")
    ]  # fmt: skip
    plain, _, corrupted = rows
    assert all(one.direct == plain.direct and one.rag and one.verdict and not one.error for one in rows)
    # Another passage was read, so that another answer was written or the same one is less likely.
    assert plain.passages == corrupted.passages == 1
    assert (plain.rag, plain.likelihoods) != (corrupted.rag, corrupted.likelihoods)

    # Nothing is run again, and the tables are those of the same numbers.
    before = out.read_bytes()
    text = run(valley, out, *arguments).stdout
    assert out.read_bytes() == before
    assert text.lstrip().startswith("Coverage: 1 of 1 questions")
    with pytest.raises(InputError, match="another run: source differ"):
        run(valley, out, "--passages", 2, "--set", "generator.answer_tokens=6")


def test_what_cannot_be_run_is_refused_before_models_are_loaded(valley, tmp_path):
    for arguments, said in (
        (("--pipeline", "crag"), "no pipeline 'crag'"),
        (("--corruption", "0,2"), r"must lie in \[0, 1\]"),
        (("--corruption", "half"), "apart by commas"),
        (("--set", "trustmargin.always=rag"), "no choice to measure"),
    ):
        with pytest.raises(UsageError, match=said):
            run(valley, tmp_path / "o.jsonl", *arguments)
    assert not (tmp_path / "o.jsonl").exists()
