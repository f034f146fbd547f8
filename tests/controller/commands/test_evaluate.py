import json

import numpy as np
import pytest
from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, passages
from sufficit.controller.cli import app
from sufficit.controller.evaluation.pruning import bench as pruning_bench
from sufficit.controller.evaluation.pruning.pruners import Models
from sufficit.controller.evaluation.pruning.run import Bench, PruningHeader
from sufficit.policies.answering import AnswerPrompts
from sufficit.policies.igp import IGPSettings
from sufficit.tools.errors import InputError
from sufficit.tools.types import Generation
from typer.testing import CliRunner

TEXTS = passages("Snow falls on the Rhine.", "The Rhine rises in the Alps.")
QUESTION = {"id": "q", "question": "Where does it rise?", "answers": ["the Alps"], "supporting": ["doc1.md"]}


class Reader(ScriptedGenerator):
    async def generate(self, prompts, max_tokens):
        return [
            Generation("the Alps" if "Alps" in p.text else "Berlin", (1,), (-0.1,), "stop", len(p.text))
            for p in prompts
        ]


class Flat:
    fingerprint = "flat"

    async def score(self, queries, texts):
        return np.zeros((len(queries), len(texts)), dtype=np.float32)


@pytest.fixture
def questions(tmp_path, monkeypatch):
    """A question file, and a bench without models: NU is 1 alone, 0.47 with the answer, 0.88 with snow."""

    def steps(prompt):
        share = 0.1 if "Alps" in prompt.text else 0.3 if "Snow" in prompt.text else 0.5
        return ((float(np.log(share)), float(np.log(1 - share))),)

    def load_bench(settings, questions, candidates, plan, cross_encoder=None):
        models = Models(FixedSufficiency(lambda _: 1.0), Flat(), Flat() if cross_encoder else None)
        entries = tuple(plan(models))
        bench = Bench(
            retriever=FixedSearch(lambda query: list(TEXTS)),
            generator=Reader(steps=steps),
            models=models,
            igp=IGPSettings(top_k=2),
            prompts=AnswerPrompts(),
            answer_tokens=8,
            candidates=candidates,
            plan=entries,
        )
        names = tuple((method.name, top_m) for method, top_m in entries)
        header = PruningHeader(
            generator="g", models={}, candidates=candidates, answer_tokens=8, settings="s", plan=names
        )
        return pruning_bench.LoadedBench(bench, header)

    monkeypatch.setattr(pruning_bench, "load_bench", load_bench)
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(QUESTION) + "\n" + json.dumps({"question": "No answer?"}) + "\n")
    return file


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def test_the_papers_table_as_json_markdown_and_plot(questions, tmp_path):
    page, plot = tmp_path / "page.md", tmp_path / "plot.svg"
    result = run(
        "eval", "igp", questions, "--out", tmp_path / "o.jsonl", "--scans", "--json",
        "--markdown", page, "--plot", plot, "--threshold", "0.2", "--threshold", "0.05",
    )  # fmt: skip
    report = json.loads(result.stdout)
    lines = {(line["method"], line["top_m"]): line for line in report["lines"]}
    assert lines["retriever", 1]["f1"] == 0.0
    assert lines["igp(0.05)", 1]["f1"] == lines["retriever", 5]["f1"] == 1.0
    assert lines["igp(0.2)", 1]["f1"] == lines["igp(0.2)", 5]["f1"] == 1.0
    assert lines["igp(0.2) guard", 5]["admitted"] >= 1.0
    assert ("igp(0.05) K=4 MT=1", 1) in lines
    assert ("igp(0.3)", 1) in lines
    assert ("cross-encoder", 1) not in lines
    assert report["correlations"]["1"] == pytest.approx(1.0)
    assert "left out 1 questions without an answer" in result.stderr
    assert "### TopM = 5, 1 questions" in page.read_text()
    assert plot.read_text().startswith("<?xml")


def test_a_finished_run_is_read_back(questions, tmp_path):
    arguments = ("eval", "igp", questions, "--out", tmp_path / "o.jsonl", "--cross-encoder", "any")
    first = run(*arguments).stdout
    assert "cross-encoder" in first
    assert run(*arguments).stdout == first


def test_the_sweet_spot_is_the_best_f1_at_the_fewest_tokens(questions, tmp_path):
    out, plot = tmp_path / "t.jsonl", tmp_path / "t.svg"
    result = run("tune-threshold", questions, "--out", out, "--top-m", 2, "--plot", plot, "--json")
    report = json.loads(result.stdout)
    # From 0.15 up the snow is pruned too; the answer's own gain is 0.53.
    assert report["threshold"] == 0.15
    assert plot.exists()
    text = run("tune-threshold", questions, "--out", out, "--top-m", 2).stdout
    assert "best here: T_p = 0.15. Set it: --set igp.threshold=0.15" in text


def test_thresholds_out_of_range_are_refused(questions, tmp_path):
    for command in (("tune-threshold",), ("eval", "igp")):
        with pytest.raises(InputError, match="must lie in"):
            run(*command, questions, "--out", tmp_path / "t.jsonl", "--threshold", "1.5")


def test_only_the_named_methods_and_the_reference_run(questions, tmp_path):
    run("eval", "igp", questions, "--out", tmp_path / "all.jsonl", "--method", "ig", "--method", "igp(0)")
    plan = json.loads((tmp_path / "all.jsonl").read_text().splitlines()[0])["plan"]
    assert plan == [[name, top_m] for top_m in (1, 5) for name in ("retriever", "ig", "igp(0)")]


def test_an_unknown_method_is_named_with_those_there_are(questions, tmp_path):
    with pytest.raises(InputError, match=r"no 'igp\(0.1\)'; there are retriever, .*igp\(0.05\)"):
        run("eval", "igp", questions, "--out", tmp_path / "o.jsonl", "--method", "igp(0.1)")
