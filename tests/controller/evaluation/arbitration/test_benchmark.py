import json
import math
from dataclasses import replace

import pytest
from scripted import ScriptedGenerator
from staged import FixedSearch, passages
from sufficit.controller.evaluation.arbitration.benchmark import Benchmark, run_benchmark
from sufficit.controller.evaluation.arbitration.plan import Plan, plan_trials
from sufficit.controller.evaluation.arbitration.rows import ArbitrationHeader, read_rows
from sufficit.controller.evaluation.arbitration.sweeps import costs
from sufficit.controller.evaluation.datasets.questions import Question
from sufficit.policies.answering import AnswerPrompts
from sufficit.policies.trustmargin import TrustMarginSettings
from sufficit.tools.errors import CapabilityError, InputError, ModelOutputError, ToolError

TEXTS = passages("The Rhine rises in the Alps.", "The Po rises on Monviso.")
NOISE = passages(*(f"Snow falls on hill {n}." for n in range(5)))
NOISE = tuple(replace(passage, source=f"noise{passage.id}") for passage in NOISE)
SETTINGS = TrustMarginSettings()
HEADER = ArbitrationHeader(generator="g", prompts="p", answer_tokens=8, trustmargin=SETTINGS, source={})
QUESTIONS = [
    Question("q1", "Where does the Rhine rise?", ("the Alps",), {}),
    Question("q2", "Where does the Po rise?", ("Monviso",), {}),
]


def answer(prompt):
    word = "the Alps" if "the Rhine rise?" in prompt.text else "Monviso"
    return word if word in prompt.text else "no idea"


def logprobs(prompt, continuation):
    """An answer is likely where the prompt holds it."""
    return (-0.5,) if continuation.strip() in prompt.text else (-2.0, -2.0)


def bench(plan=None, search=None, **parts):
    parts = {"answer": answer, "logprobs": logprobs} | parts
    return Benchmark(
        retriever=search or FixedSearch(lambda query: list(TEXTS)),
        generator=ScriptedGenerator(**parts),
        prompts=AnswerPrompts(),
        answer_tokens=8,
        trustmargin=SETTINGS,
        trials=plan_trials(plan or Plan()),
        passages=2,
        noise=NOISE,
    )


async def run(path, chosen=None, questions=QUESTIONS, progress=lambda *_: None):
    return await run_benchmark(chosen or bench(), questions, HEADER, path, progress)


def generated(chosen):
    return sum(len(prompts) for method, prompts in chosen.generator.calls if method == "generate")


async def test_a_row_holds_all_that_decides(tmp_path):
    first, second = await run(tmp_path / "o.jsonl")
    assert (first.id, first.variant, first.question) == ("q1", "", "Where does the Rhine rise?")
    assert (first.answers, first.direct, first.rag) == (("the Alps",), "no idea", "the Alps")
    assert (first.direct_tokens, first.rag_tokens, first.passages) == (2, 2, 2)
    found = first.likelihoods
    assert (found.question_direct, found.question_rag) == (-2.0, -2.0)
    assert (found.both_direct, found.both_rag, found.context_rag) == (-2.0, -0.5, -0.5)
    assert (first.verdict.source, first.verdict.margin) == ("rag", 0.0)
    assert set(first.seconds) == {"direct", "retrieval", "rag", "scoring"}
    assert all(value >= 0 for value in first.seconds.values())
    assert second.rag == "Monviso"
    _, stored = read_rows(tmp_path / "o.jsonl")
    assert stored == [first, second]


async def test_questions_that_run_together_give_the_same_rows_untimed(tmp_path):
    chosen = replace(bench(), at_once=2)
    together = await run(tmp_path / "together.jsonl", chosen)
    alone = await run(tmp_path / "alone.jsonl")
    assert [row.model_copy(update={"seconds": {}}) for row in alone] == together
    assert costs(together) == ()
    assert costs([*together, *alone]) == costs(alone)


async def test_a_killed_run_goes_on_where_it_was(tmp_path):
    path = tmp_path / "o.jsonl"
    await run(path, questions=QUESTIONS[:1])
    with path.open("a") as file:
        file.write('{"id": "q2", "var')
    chosen, shown = bench(), []
    rows = await run(path, chosen, progress=lambda done, total: shown.append((done, total)))
    assert chosen.retriever.queries == ["Where does the Po rise?"]
    assert [one.id for one in rows] == ["q1", "q2"]
    assert shown == [(1, 2), (2, 2)]
    assert len(path.read_text().splitlines()) == 3


async def test_trials_share_the_closed_book_answer_and_are_added_later(tmp_path):
    path = tmp_path / "o.jsonl"
    await run(path)
    chosen = bench(Plan(("rag", "dtr"), (0.5, 1.0)))
    rows = await run(path, chosen)
    assert [one.variant for one in rows[:4]] == ["", "pipeline=dtr", "corruption=0.5", "corruption=1"]
    direct = {one.direct for one in rows if one.id == "q1"}
    assert direct == {"no idea"}
    assert {one.seconds["direct"] for one in rows[1:4]} == {rows[1].seconds["direct"]}
    # Closed-book once; DTR's draft, memory passage and answer; two answers under corruption; two questions.
    assert generated(chosen) == 2 * (1 + 3 + 2)


async def test_random_passages_take_the_evidence_away(tmp_path):
    rows = await run(tmp_path / "o.jsonl", bench(Plan(shares=(1.0,))))
    plain, corrupted = rows[:2]
    assert (plain.rag, plain.verdict.source) == ("the Alps", "rag")
    assert (corrupted.rag, corrupted.verdict.source) == ("no idea", "agree")


async def test_what_fails_is_a_row_and_is_tried_again(tmp_path):
    path = tmp_path / "o.jsonl"
    for error in (ModelOutputError("NaN everywhere\nmore"), InputError("too long"), ToolError("down")):

        def fail(prompt, error=error):
            if "the Po rise?" in prompt.text and "<context>" in prompt.text:
                raise error
            return answer(prompt)

        first, second = await run(path, bench(answer=fail))
        assert first.error == ""
        assert second.error == str(error).partition("\n")[0]
        assert (second.direct, second.rag, second.verdict) == ("no idea", None, None)
    assert [one.error for one in await run(path)] == ["", ""]


async def test_a_broken_likelihood_fails_its_question_alone(tmp_path):
    def broken(prompt, continuation):
        return (math.nan,) if "Po" in prompt.text and "<context>" not in prompt.text else (-1.0,)

    first, second = await run(tmp_path / "o.jsonl", bench(logprobs=broken))
    assert first.verdict is not None
    assert (second.verdict, second.rag) == (None, "Monviso")
    assert "no finite log-likelihood" in second.error


async def test_a_setup_that_cannot_work_ends_the_run(tmp_path):
    def refuse(prompt):
        raise CapabilityError("no chat template")

    with pytest.raises(CapabilityError):
        await run(tmp_path / "o.jsonl", bench(answer=refuse))


async def test_another_runs_file_is_refused(tmp_path):
    path = tmp_path / "o.jsonl"
    path.write_text(json.dumps(HEADER.model_copy(update={"generator": "h"}).model_dump(mode="json")) + "\n")
    with pytest.raises(InputError, match="another run: generator differ"):
        await run(path)
