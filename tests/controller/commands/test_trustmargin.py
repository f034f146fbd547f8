"""The whole of `eval trustmargin`, on the embedded generator and a small index of an invented valley."""

import json

import pytest
from sufficit.controller.cli import app
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
    {"id": "gold", "question": "What is the chemical symbol of gold?", "answers": ["Au"]},
    {"question": "Nobody has answered this one."},
]


@pytest.fixture(scope="module")
def valley(tmp_path_factory, generator):
    """Folder with an index and a question file; `generator` sees to it that the model is there."""
    folder = tmp_path_factory.mktemp("valley")
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
        "--passages", 2, "--pipeline", "rag", "--pipeline", "flare", "--corruption", "0,1",
        "--set", "generator.answer_tokens=8",
        "--markdown", page, "--plots", plots,
    )  # fmt: skip
    result = run(valley, out, *arguments, "--json")
    report = json.loads(result.stdout)
    assert "left out 1 questions without an answer" in result.stderr
    assert report["coverage"]["questions"] == 2
    assert report["coverage"]["failed"] == {}
    means = {method["name"]: method["f1"]["value"] for method in report["diagnostics"]["methods"]}
    assert means["oracle"] >= max(means["Direct"], means["RAG"], means["TrustMargin"])
    assert [level["share"] for level in report["levels"]] == [0.0, 1.0]
    assert [one["pipeline"] for one in report["pipelines"]] == ["rag", "flare"]
    assert {file.name for file in plots.iterdir()} == {"grid.svg", "recovery.svg", "corruption.svg"}
    assert page.read_text().startswith("## TrustMargin\n\n### Coverage: 2 of 2 questions")

    header, rows = read_rows(out)
    assert header.source["pipeline"] == "rag"
    assert len(rows) == 6
    mill = next(one for one in rows if one.id == "mill" and not one.variant)
    assert "Agda Venn" in (mill.rag or "")
    assert mill.passages == 2

    # Nothing is run again, and the tables are those of the same numbers.
    before = out.read_bytes()
    text = run(valley, out, *arguments).stdout
    assert out.read_bytes() == before
    assert text.lstrip().startswith("Coverage: 2 of 2 questions")
    with pytest.raises(InputError, match="another run: source differ"):
        run(valley, out, "--passages", 1, "--set", "generator.answer_tokens=8")


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
