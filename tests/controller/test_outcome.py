from dataclasses import replace

import pytest
from scripted import generation
from staged import passages
from sufficit.controller.answer import Candidates, Margins, Pruning
from sufficit.controller.budget import BudgetSettings, Ledger
from sufficit.controller.outcome import Outcome, conclude
from sufficit.controller.recording import Recorder
from sufficit.controller.trace import VERSION, Finished, Started
from sufficit.policies.abstention import AbstentionSettings, ClosedBookRule
from sufficit.policies.types import Decision, PassageGain, PruneReport, Verdict
from sufficit.tools.errors import BudgetExhausted

QUESTION = "Where does the Rhine rise?"
POOL = tuple(passages("The Rhine rises in the Alps.", "It rains.", "The Po rises on Monviso."))
KEYS = tuple(passage.key for passage in POOL)
DIRECT, RAG = generation("Berlin"), generation("the Alps")


def decided(action):
    return Decision(action, "Because.", 1.0, 0.5, None, {})


def verdict(source, answer):
    return Verdict(source, answer, "So it is.", None, -1.0, 0.5, -0.75, 0.5, -1.5, tie=True)


def gain(number, admitted, reason=""):
    return PassageGain(KEYS[number], 0.25, 0.125 * number, number + 1, 7, admitted, reason)


def concluded(on_insufficient="abstain", **found):
    now = [10.0]
    ledger = Ledger(BudgetSettings(seconds=60), clock=lambda: now[0])
    recorder = Recorder(
        Started(version=VERSION, question=QUESTION, settings={}, models={}, web=False), ledger, None
    )
    ledger.spend("model_calls", 3)
    now[0] = 14.0
    rule = ClosedBookRule(AbstentionSettings(on_insufficient=on_insufficient))
    answer = conclude(Outcome(QUESTION, POOL, **found), rule, ledger, recorder)
    last = recorder.events[-1]
    assert isinstance(last, Finished)
    assert last.answer is answer
    assert answer.trace_id == recorder.trace_id
    return answer


def judged(source, answer, read=POOL[:1], **found):
    return concluded(
        decision=decided("answer"),
        direct=DIRECT,
        rag=RAG,
        read=read,
        verdict=verdict(source, answer),
        **found,
    )


def test_a_trusted_answer_from_evidence_is_grounded_and_cited():
    answer = judged("rag", "the Alps")
    assert (answer.action, answer.answer, answer.source, answer.grounded) == (
        "answer",
        "the Alps",
        "rag",
        True,
    )
    assert [(one.id, one.text) for one in answer.citations] == [("0", POOL[0].text)]
    assert answer.candidates == Candidates("Berlin", "the Alps")
    assert answer.margins == Margins(-1.0, 0.5, -0.75, 0.5, -1.5, tie=True)
    assert answer.reason == "So it is."


@pytest.mark.parametrize(
    ("source", "read"), [("direct", POOL[:1]), ("direct", ()), ("rag", ()), ("agree", ())]
)
def test_an_answer_that_rests_on_no_evidence_is_not_grounded_and_cites_nothing(source, read):
    answer = judged(source, "the Alps", read)
    assert (answer.action, answer.source, answer.grounded, answer.citations) == ("answer", source, False, ())


def test_two_sources_that_agree_are_grounded_where_one_has_read():
    answer = judged("agree", "the Alps")
    assert answer.grounded
    assert [one.id for one in answer.citations] == ["0"]


def test_no_trusted_answer_is_an_abstention():
    answer = judged("none", "")
    assert (answer.action, answer.answer, answer.source, answer.citations) == ("abstain", None, "none", ())
    assert answer.margins is not None


def test_a_budget_that_ends_before_the_comparison_leaves_the_grounded_answer():
    spent = BudgetExhausted("model_calls", 5)
    found = {"decision": decided("answer"), "direct": DIRECT, "stopped_by": spent}
    answer = concluded(**found, rag=RAG, read=POOL[:1])
    assert (answer.answer, answer.source, answer.grounded) == ("the Alps", "rag", True)
    assert answer.reason.startswith("The limit budget.model_calls = 5 was reached. The evidence sufficed")
    # What the writer says without evidence is the closed-book answer again.
    for unread in ({}, {"rag": RAG}, {"rag": generation(""), "read": POOL[:1]}):
        answer = concluded(**found, **unread)
        assert (answer.action, answer.answer, answer.source) == ("abstain", None, "none")
        assert answer.reason.endswith("No answer had been written from the evidence.")


def test_an_arbiter_that_failed_leaves_the_grounded_answer():
    answer = concluded(decision=decided("answer"), rag=RAG, read=POOL[:1])
    assert (answer.answer, answer.margins) == ("the Alps", None)
    assert answer.reason.startswith("The answers could not be compared.")


def test_insufficient_evidence_is_an_abstention_for_the_decisions_reason():
    answer = concluded(decision=decided("abstain"), direct=DIRECT)
    assert (answer.action, answer.answer, answer.reason) == ("abstain", None, "Because.")


def test_a_limit_is_named_before_the_last_decision():
    spent = BudgetExhausted("seconds", 0.5)
    answer = concluded(decision=decided("retrieve_more"), stopped_by=spent)
    assert answer.reason == "The limit budget.seconds = 0.5 was reached."


def test_the_closed_book_answer_stands_in_where_the_settings_allow_it():
    answer = concluded("closed_book", decision=decided("abstain"), direct=DIRECT)
    assert (answer.action, answer.answer, answer.source) == ("answer", "Berlin", "direct")
    assert not answer.grounded
    assert answer.reason.startswith("Because. The settings allow")
    answer = concluded("closed_book", decision=decided("abstain"))
    assert (answer.action, answer.reason) == (
        "abstain",
        "Because. There is no closed-book answer to give.",
    )


def test_admitted_passages_come_first_in_prompt_order_with_their_gains():
    report = PruneReport(
        (KEYS[2], KEYS[0]), 0.5, (gain(0, True), gain(1, False, "too low"), gain(2, True)), 20, 64, 0.05
    )
    admitted = (POOL[2], POOL[0])
    answer = judged("rag", "the Alps", admitted[:1], prune=report, admitted=admitted)
    assert [(e.id, e.information_gain, e.admitted) for e in answer.evidence] == [
        ("2", 0.25, True),
        ("0", 0.0, True),
        ("1", 0.125, False),
    ]
    assert [(e.uncertainty, e.rank) for e in answer.evidence] == [(0.25, 3), (0.25, 1), (0.25, 2)]
    assert answer.pruning == Pruning("information gain", 0.5, 0.05, "", "")
    first, crowded_out, low = (one.reason for one in answer.evidence)
    assert (first, low) == ("", "too low")
    assert "prompts.context_tokens" in crowded_out


def test_a_rivals_score_is_not_called_a_gain():
    unprobed = replace(gain(0, True), uncertainty=None, gain=21.3)
    report = PruneReport((KEYS[0],), 0.5, (unprobed,), 20, 64, 0.05, method="retriever", control="why")
    answer = judged("rag", "the Alps", POOL[:1], prune=report, admitted=POOL[:1])
    first = answer.evidence[0]
    assert (first.uncertainty, first.information_gain, first.rank) == (None, None, 1)
    assert (answer.pruning.method, answer.pruning.control) == ("retriever", "why")


@pytest.mark.parametrize(("action", "why"), [("abstain", "did not suffice"), ("answer", "pruning failed")])
def test_unmeasured_passages_say_why(action, why):
    answer = concluded(decision=decided(action))
    assert [evidence.information_gain for evidence in answer.evidence] == [None] * 3
    assert all(why in evidence.reason for evidence in answer.evidence)


def test_spent_left_and_times_are_those_of_the_ledger():
    answer = concluded(decision=decided("abstain"))
    assert (answer.budget.spent["model_calls"], answer.budget.left["model_calls"]) == (3, 37)
    assert (answer.budget.spent["seconds"], answer.budget.left["seconds"]) == (4.0, 56.0)
    assert answer.timings == {"total": 4.0}
