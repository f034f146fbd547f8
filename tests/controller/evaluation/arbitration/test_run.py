import asyncio
import multiprocessing
import os
import signal

import pytest
from scripted import ScriptedGenerator, capabilities
from sufficit.controller.evaluation.arbitration import run
from sufficit.controller.evaluation.arbitration.cases import Case, Cases
from sufficit.controller.evaluation.arbitration.rows import ArbitrationHeader, read_rows
from sufficit.controller.evaluation.arbitration.run import Bench, arbitrated, load_arbitration, run_cases
from sufficit.controller.evaluation.datasets.examples import make_passage
from sufficit.controller.settings import load
from sufficit.policies.answering import AnswerPrompts
from sufficit.policies.trustmargin import TrustMarginSettings
from sufficit.policies.types import Likelihoods
from sufficit.tools.errors import CapabilityError, GenerationFailed, ModelOutputError, UsageError

ALPS = make_passage("Rhine", "The Rhine rises in the Alps.")
HEADER = ArbitrationHeader(
    generator="g", prompts="p", answer_tokens=8, trustmargin=TrustMarginSettings(), source={}
)


def answer(prompt):
    return "the Alps" if "rises in the Alps" in prompt.text else "Bern"


def logprobs(prompt, continuation):
    context, question = "rises in the Alps" in prompt.text, "Where" in prompt.text
    if continuation == " Bern":
        return (-2.0, -4.0)
    return {(False, True): (-4.0,), (True, True): (-0.5,), (True, False): (-1.0,)}[context, question]


def bench(generator=None, **changes):
    generator = generator or ScriptedGenerator(answer=answer, logprobs=logprobs)
    return Bench(generator, AnswerPrompts(), 8, TrustMarginSettings(), **changes)


def case(name="1", **changes):
    return Case(**({"id": name, "question": "Where does it rise?", "passages": (ALPS,)} | changes))


def methods(bench):
    return [method for method, _ in bench.generator.calls]


async def test_missing_answers_are_written_and_judged_by_six_likelihoods():
    used = bench()
    row = await arbitrated(used, case(answers=("the Alps",)))
    assert (row.direct, row.rag, row.error) == ("Bern", "the Alps", "")
    assert row.likelihoods == Likelihoods(-3.0, -4.0, -3.0, -0.5, -3.0, -1.0)
    assert (row.verdict.prior, row.verdict.binding, row.verdict.margin) == (-1.0, 0.5, -0.75)
    assert (row.verdict.source, row.verdict.answer) == ("rag", "the Alps")
    assert (row.direct_tokens, row.rag_tokens, row.passages) == (1, 2, 1)
    assert list(row.seconds) == ["direct", "rag", "scoring"]
    assert methods(used) == ["generate"] * 2 + ["score"] * 3


async def test_given_answers_are_not_written_again():
    used = bench()
    row = await arbitrated(used, case(direct="Bern", rag="the Alps"))
    assert (row.verdict.source, list(row.seconds)) == ("rag", ["scoring"])
    assert methods(used) == ["score"] * 3


@pytest.mark.parametrize(
    ("changes", "source", "chosen"),
    [
        ({"direct": "Alps"}, "agree", "the Alps"),
        ({"direct": ""}, "rag", "the Alps"),
        ({"rag": " "}, "direct", "Bern"),
        ({"direct": "", "rag": "."}, "none", ""),
        ({"passages": ()}, "agree", "Bern"),
        ({"passages": (), "rag": "Bern."}, "agree", "Bern"),
        ({"passages": (), "rag": ""}, "direct", "Bern"),
        ({"passages": (), "direct": "", "rag": "the Alps"}, "rag", "the Alps"),
        ({"passages": (), "direct": ""}, "none", ""),
    ],
)
async def test_what_needs_no_scoring_gets_none(changes, source, chosen):
    used = bench()
    row = await arbitrated(used, case(**changes))
    assert (row.verdict.source, row.verdict.answer, row.likelihoods, row.error) == (source, chosen, None, "")
    assert "score" not in methods(used)


@pytest.mark.parametrize(
    ("passages", "message"),
    [
        ((), "but no passage: its"),
        ((make_passage("", "word " * 3000),), "no passage fits prompts.context_tokens"),
    ],
)
async def test_a_given_rag_answer_without_evidence_cannot_be_judged(passages, message):
    row = await arbitrated(bench(), case(passages=passages, rag="the Alps"))
    assert message in row.error
    assert (row.verdict, row.direct, row.rag) == (None, "Bern", "the Alps")


async def test_a_failure_keeps_what_there_was_before_it():
    def gone(prompt):
        if "Alps" in prompt.text:
            raise GenerationFailed("the server is gone", "r1")
        return "Bern"

    row = await arbitrated(bench(ScriptedGenerator(answer=gone)), case())
    assert "the server is gone" in row.error
    assert (row.direct, row.rag, row.verdict) == ("Bern", None, None)
    assert set(row.seconds) == {"direct", "rag"}


async def test_a_run_goes_on_where_it_was_stopped_and_tries_failures_again(tmp_path):
    path, cases, shown = tmp_path / "rows.jsonl", [case(str(n)) for n in range(5)], []
    faults = {"0": True}

    def failing(prompt):
        if faults.pop("0", False):
            raise ModelOutputError("not finite")
        return answer(prompt)

    used = bench(ScriptedGenerator(answer=failing, logprobs=logprobs), at_once=2)
    first = await run_cases(used, cases[:3], HEADER, path, lambda *at: shown.append(at))
    assert [bool(row.error) for row in first] == [True, False, False]
    assert shown == [(0, 3), (2, 3), (3, 3)]
    used.generator.calls.clear()
    rows = await run_cases(used, cases, HEADER, path, lambda *at: None)
    assert [row.error for row in rows] == [""] * 5
    assert len(methods(used)) == 3 * 5
    assert sorted(read_rows(path)[1], key=lambda row: row.id) == rows


def test_a_killed_run_keeps_its_whole_rows(tmp_path):
    path, cases = tmp_path / "rows.jsonl", [case(str(n), question=f"Where, {n}?") for n in range(5)]

    def killed(prompt):
        if "Where, 3?" in prompt.text:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer(prompt)

    def start(used):
        return asyncio.run(run_cases(used, cases, HEADER, path, lambda *at: None))

    doomed = bench(ScriptedGenerator(answer=killed, logprobs=logprobs))
    child = multiprocessing.get_context("fork").Process(target=start, args=(doomed,))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    kept = path.read_bytes()
    assert [row.id for row in read_rows(path)[1]] == ["0", "1", "2"]
    used = bench()
    assert [row.id for row in start(used)] == ["0", "1", "2", "3", "4"]
    assert path.read_bytes().startswith(kept)
    assert len(methods(used)) == 2 * 5


async def test_a_run_of_failures_only_is_an_error(tmp_path):
    def broken(prompt):
        raise ModelOutputError("not finite")

    with pytest.raises(ModelOutputError, match="no question could be arbitrated; the first: not finite"):
        await run_cases(
            bench(ScriptedGenerator(answer=broken)), [case()], HEADER, tmp_path / "r.jsonl", lambda *at: None
        )


@pytest.mark.parametrize("scores", [True, False])
def test_only_the_generator_is_loaded_and_refused_early(monkeypatch, scores):
    generator = ScriptedGenerator(capabilities=capabilities(scores_prompts=scores))
    monkeypatch.setattr(run, "load_generator", lambda settings: generator)
    settings = load(["trustmargin.tau=-4", "index.path=/nowhere"], environment={}).settings
    cases = Cases("plain", (case(),))
    if not scores:
        with pytest.raises(CapabilityError, match="TrustMargin"):
            load_arbitration(settings, cases)
        return
    _, header = load_arbitration(settings, cases)
    assert (header.generator, header.trustmargin.tau) == ("transformers scripted", -4)
    assert header.source == {"format": "plain", "questions": cases.digest}


def test_a_setting_that_measures_nothing_is_refused():
    settings = load(["trustmargin.always=rag"], environment={}).settings
    with pytest.raises(UsageError, match="leaves nothing to arbitrate"):
        load_arbitration(settings, Cases("plain", (case(),)))


async def test_a_real_model_arbitrates(generator):
    row = await arbitrated(bench(generator), case(direct="Bern"))
    assert row.error == ""
    assert row.rag
    assert row.likelihoods is not None or row.verdict.source == "agree"
