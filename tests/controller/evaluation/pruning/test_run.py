from dataclasses import replace

import numpy as np
import pytest
from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, passages
from sufficit.controller.evaluation.datasets.questions import Question
from sufficit.controller.evaluation.pruning.pruners import Models, igp, paper_methods
from sufficit.controller.evaluation.pruning.report import pruning_grids, pruning_report
from sufficit.controller.evaluation.pruning.run import Bench, PruningHeader, ndcg, run_bench
from sufficit.policies.answering import AnswerPrompts
from sufficit.policies.igp import IGPSettings
from sufficit.tools.errors import InputError, ModelOutputError
from sufficit.tools.types import Passage

TEXTS = passages("Snow falls.", "The Po rises on Monviso.", "The Rhine rises in the Alps.")
HEADER = PruningHeader(generator="g", models={}, candidates=3, answer_tokens=8, settings="s", plan=())
QUESTIONS = [
    Question("q1", "Where does the Rhine rise?", ("the Alps",), {"doc2.md": 1}),
    Question("q2", "Where does the Po rise?", ("Monviso",), {"doc1.md": 1}),
]


def wanted(prompt):
    """What the question of a prompt is about, and whether the prompt holds it."""
    word = "Alps" if "the Rhine rise?" in prompt.text else "Monviso"
    return word, word in prompt.text


def answer(prompt):
    word, there = wanted(prompt)
    return word if there else "no idea"


def steps(prompt):
    return ((-0.001, -9.0),) if wanted(prompt)[1] else ((-0.7, -0.7),)


class Counting(ScriptedGenerator):
    """Counts the words of a prompt as its tokens."""

    async def generate(self, prompts, max_tokens):
        answers = await super().generate(prompts, max_tokens)
        counts = [self.count_tokens(prompt.text) for prompt in prompts]
        return [replace(answer, prompt_tokens=n) for answer, n in zip(answers, counts, strict=True)]


class Cosines:
    fingerprint = "fixed"

    async def score(self, queries, texts):
        return np.array([[float("Po" in text) for text in texts] for _ in queries], dtype=np.float32)


def bench(search=None, answers=answer, methods=None):
    models = Models(FixedSufficiency(len), Cosines(), Cosines())
    chosen = methods or paper_methods(models, (0.0, 0.05))
    return Bench(
        retriever=FixedSearch(search or (lambda query: list(TEXTS))),
        generator=Counting(
            answer=answers, steps=steps, logprobs=lambda prompt, c: (-0.1 if "Po" in prompt.text else -2.0,)
        ),
        models=models,
        igp=IGPSettings(top_k=2),
        prompts=AnswerPrompts(),
        answer_tokens=8,
        candidates=3,
        plan=tuple((method, top_m) for top_m in (1, 2) for method in chosen),
    )


async def run(path, questions=QUESTIONS, **changes):
    return await run_bench(bench(**changes), questions, HEADER, path, lambda *_: None)


async def test_every_method_meets_every_question_on_the_same_candidates(tmp_path):
    report = pruning_report(await run(tmp_path / "o.jsonl"))
    lines = {(line.method, line.top_m): line for line in report.lines}
    assert report.questions == 2
    assert {name for name, _ in lines} >= {
        "retriever", "cross-encoder", "bi-encoder", "yes-no", "qlm", "ig", "igp(0)", "igp(0.05)"
    }  # fmt: skip
    assert lines["retriever", 1].f1 == 0.0
    assert lines["igp(0.05)", 1].f1 == 1.0
    assert lines["igp(0.05)", 2].admitted == 1.0
    assert lines["igp(0.05)", 2].tokens < lines["retriever", 2].tokens
    assert lines["ig", 2].admitted == 2.0
    assert lines["bi-encoder", 1].f1 == 0.5
    assert lines["igp(0.05)", 1].ndcg == 1.0
    gain = lines["igp(0.05)", 1].gain
    assert (gain.value, gain.low, gain.high) == (1.0, 1.0, 1.0)
    assert lines["retriever", 1].nte is None
    assert lines["retriever", 2].nte == 1.0
    titles = [grid.title for grid in pruning_grids(report)]
    assert [title.partition(",")[0] for title in titles[:2]] == ["TopM = 1", "TopM = 2"]
    assert report.correlations[1] == pytest.approx(1.0)


async def test_a_killed_run_goes_on_where_it_was(tmp_path):
    path = tmp_path / "o.jsonl"
    await run(path, QUESTIONS[:1])
    with path.open("a") as file:
        file.write('{"question": "q2", "ce')
    asked = []

    def search(query):
        asked.append(query)
        return list(TEXTS)

    rows = await run(path, search=search)
    assert asked == ["Where does the Po rise?"]
    assert [row.question for row in rows] == ["q1", "q2"]


async def test_what_cannot_be_run_is_counted_and_said(tmp_path):
    def fail(prompt):
        if "the Po rise?" in prompt.text:
            raise ModelOutputError("NaN everywhere")
        return "the Alps"

    report = pruning_report(await run(tmp_path / "o.jsonl", answers=fail))
    assert (report.questions, report.skipped) == (1, 1)
    with pytest.raises(InputError, match="NaN everywhere"):
        pruning_report(await run(tmp_path / "p.jsonl", QUESTIONS[1:], answers=fail))


async def test_no_candidates_means_the_closed_book_answer_for_all(tmp_path):
    rows = await run(tmp_path / "o.jsonl", search=lambda query: [])
    assert {cell.admitted for row in rows for cell in row.cells} == {0}
    assert {cell.answer for row in rows for cell in row.cells} == {"no idea"}


async def test_one_rollout_serves_every_k_and_mt(tmp_path):
    chosen = bench(methods=[igp(0.05), igp(0.05, 1, 1), igp(0.05, 2, 4)])
    await run_bench(chosen, QUESTIONS[:1], HEADER, tmp_path / "o.jsonl", lambda *_: None)
    rollouts = [prompts for method, prompts in chosen.generator.calls if method == "rollout"]
    assert [len(prompts) for prompts in rollouts] == [1, 3]


def test_ndcg_counts_a_document_once():
    grades = {"doc0.md": 1, "doc2.md": 2}
    first, second, third = TEXTS
    assert ndcg([third, first], grades, 2) == 1.0
    assert ndcg([second], grades, 1) == 0.0
    assert ndcg([first, first, third], grades, 2) == pytest.approx(
        (1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3))
    )
    assert ndcg([], grades, 5) == 0.0
    assert ndcg([first], {}, 5) is None


def test_a_negative_grade_counts_as_none():
    (junk, good) = (Passage("a", "x", source="junk"), Passage("b", "y", source="good"))
    assert ndcg([junk], {"junk": -1, "good": 1}, 5) == 0.0
    assert ndcg([good, junk], {"junk": -1, "good": 1}, 5) == 1.0
