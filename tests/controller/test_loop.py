import asyncio

import pytest
from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.budget import BudgetSettings
from sufficit.controller.settings import load
from sufficit.tools.errors import CapabilityError, InputError, ModelOutputError, ToolError
from sufficit.tools.types import Prompt

RIVERS = passages("The Rhine rises in the Alps.", "The Po rises on Monviso.", "Bread needs salt.")
UNSURE = ((-0.7, -0.7),)
SURE = ((-0.01, -6.0),)


def knowing(prompt: Prompt) -> str:
    """Answers from the passages where they are in the prompt."""
    return "the Alps" if "Rhine rises in the Alps" in prompt.text else "Berlin"


def sure_of_the_rhine(prompt: Prompt) -> tuple[tuple[float, ...], ...]:
    return SURE if "Rhine rises in the Alps" in prompt.text else UNSURE


def settings(*assignments: str):
    return load(assignments, environment={}).settings


def generator(**changes):
    return ScriptedGenerator(answer=knowing, steps=sure_of_the_rhine, **changes)


def index(found=RIVERS):
    return FixedSearch(lambda query: list(found))


def kinds(events):
    return [event.kind for event in events]


async def test_sufficient_evidence_is_pruned_read_and_cited():
    listened = []
    loop = controller(index(), FixedSufficiency(lambda _: 1.0), generator())
    answer, events = await loop.answer("  Where does the Rhine rise? ", listened.append)
    assert (answer.action, answer.answer, answer.source) == ("answer", "the Alps", "rag")
    assert answer.grounded
    assert [c.text for c in answer.citations] == ["The Rhine rises in the Alps."]
    assert [(e.title, e.admitted) for e in answer.evidence] == [("T0", True), ("T1", False), ("T2", False)]
    assert answer.evidence[0].information_gain > 0.05 > answer.evidence[1].information_gain
    assert (answer.candidates.direct, answer.candidates.rag) == ("Berlin", "the Alps")
    assert answer.margins.margin == 0.0
    assert kinds(events) == [
        "started",
        "retrieved",
        "scored",
        "decided",
        "opened",
        "pruned",
        "wrote",
        "arbitrated",
        "finished",
    ]
    assert tuple(listened) == events
    assert events[0].question == "Where does the Rhine rise?"
    spent = answer.budget.spent
    # open 2, IGP 1, RAG 1, three views
    assert spent["model_calls"] == 7
    assert spent["rounds"] == 1
    assert spent["passages"] == 3
    assert set(answer.timings) >= {"retrieve", "score", "open", "prune", "write", "arbitrate", "total"}


async def test_a_budget_of_ones_own_stands_in_for_that_of_the_settings():
    loop = controller(index(), FixedSufficiency(lambda _: -1.0, ("rhine rise",)), generator())
    answer, events = await loop.answer("Where does the Rhine rise?", budget=BudgetSettings(rounds=1))
    assert (answer.budget.spent["rounds"], answer.budget.left["rounds"]) == (1, 0)
    assert events[0].settings["budget"]["rounds"] == 1


async def test_insufficient_evidence_asks_again_then_abstains_with_the_reason():
    retriever = FixedSearch(lambda query: passages(f"about {query}"))
    loop = controller(retriever, FixedSufficiency(lambda _: -1.0, ("rhine rise", "where does")), generator())
    answer, events = await loop.answer("Where does the Rhine rise?")
    assert answer.action == "abstain"
    assert answer.answer is None
    assert answer.source == "none"
    assert answer.citations == ()
    assert len(retriever.queries) == len(set(retriever.queries)) > 1
    assert kinds(events).count("retrieved") == len(retriever.queries) <= 3
    assert "-1.00" in answer.reason
    assert all("insuffic" not in e.reason or not e.admitted for e in answer.evidence)


async def test_a_later_round_can_bring_what_was_missing():
    def found(query: str):
        return [RIVERS[2]] if query == "Where does the Rhine rise?" else [RIVERS[0]]

    score = FixedSufficiency(lambda pool: 1.0 if RIVERS[0] in pool else -1.0, ("rhine rise",))
    answer, events = await controller(FixedSearch(found), score, generator()).answer(
        "Where does the Rhine rise?"
    )
    assert answer.answer == "the Alps"
    assert [e.decision.action for e in events if e.kind == "decided"] == ["retrieve_more", "answer"]


async def test_the_web_is_asked_last_and_only_where_there_is_one():
    score = FixedSufficiency(lambda pool: 1.0 if RIVERS[0] in pool else -1.0)
    web = FixedSearch(lambda query: [RIVERS[0]])
    loop = controller(index([RIVERS[2]]), score, generator(), web=web)
    answer, events = await loop.answer("Where does the Rhine rise?")
    assert answer.answer == "the Alps"
    assert [e.decision.action for e in events if e.kind == "decided"][-2:] == ["fetch_web", "answer"]
    without, events = await controller(index([RIVERS[2]]), score, generator()).answer(
        "Where does the Rhine rise?"
    )
    assert without.action == "abstain"
    assert all(e.decision.action != "fetch_web" for e in events if e.kind == "decided")


async def test_a_web_that_brings_nothing_ends_in_an_abstention():
    web = FixedSearch(lambda query: [])
    loop = controller(index(), FixedSufficiency(lambda _: -1.0, ("rhine",)), generator(), web=web)
    answer, _ = await loop.answer("Where does the Rhine rise?")
    assert answer.action == "abstain"
    assert len(web.queries) == len(set(web.queries)) >= 1


async def test_on_insufficient_the_closed_book_answer_is_marked():
    chosen = settings("abstention.on_insufficient=closed_book")
    loop = controller(index(), FixedSufficiency(lambda _: -1.0), generator(), chosen)
    answer, _ = await loop.answer("Where does the Rhine rise?")
    assert (answer.answer, answer.source, answer.grounded) == ("Berlin", "direct", False)
    assert answer.citations == ()
    assert "no evidence" in answer.reason


async def test_the_guard_keeps_evidence_that_the_threshold_would_prune():
    loop = controller(index(), FixedSufficiency(lambda _: 1.0), generator(), settings("igp.threshold=1"))
    answer, _ = await loop.answer("Where does the Rhine rise?")
    assert answer.answer == "the Alps"
    (kept,) = [evidence for evidence in answer.evidence if evidence.admitted]
    assert "kept by the guard" in kept.reason


async def test_no_admitted_passage_means_the_closed_book_answer_without_citations():
    unguarded = settings("igp.threshold=1", "igp.guard=false")
    loop = controller(index(), FixedSufficiency(lambda _: 1.0), generator(), unguarded)
    answer, events = await loop.answer("Where does the Rhine rise?")
    assert answer.answer == "Berlin"
    assert not answer.grounded
    assert answer.citations == ()
    assert "wrote" not in kinds(events)


def failing(error: Exception):
    def fail(*_):
        raise error

    return fail


async def test_a_failing_index_is_a_recorded_step():
    loop = controller(
        FixedSearch(failing(ToolError("index gone"))), FixedSufficiency(lambda _: 1.0), generator()
    )
    answer, events = await loop.answer("Where does the Rhine rise?")
    assert answer.action == "abstain"
    faults = [e for e in events if e.kind == "fault"]
    assert (faults[0].stage, faults[0].error, faults[0].message) == ("retrieve", "ToolError", "index gone")


async def test_failing_readers_mean_abstention():
    loop = controller(index(), FixedSufficiency(failing(ModelOutputError("NaN"))), generator())
    answer, events = await loop.answer("Where does the Rhine rise?")
    assert answer.action == "abstain"
    assert answer.sufficiency.score is None
    assert next(e.stage for e in events if e.kind == "fault") == "score"


async def test_failing_probes_leave_the_retrieval_order():
    broken = ScriptedGenerator(answer=knowing, steps=failing(ToolError("no logits")))
    loop = controller(index(), FixedSufficiency(lambda _: 1.0), broken, settings("igp.top_m=2"))
    answer, _ = await loop.answer("Where does the Rhine rise?")
    assert answer.answer == "the Alps"
    assert [e.admitted for e in answer.evidence] == [True, True, False]
    assert "pruning failed" in answer.evidence[0].reason


async def test_failing_scores_let_the_grounded_answer_stand():
    broken = generator(logprobs=failing(ToolError("no scores")))
    answer, events = await controller(index(), FixedSufficiency(lambda _: 1.0), broken).answer(
        "Where is the Rhine?"
    )
    assert (answer.answer, answer.source, answer.grounded) == ("the Alps", "rag", True)
    assert "fault" in kinds(events)


async def test_errors_of_use_are_not_faults():
    with pytest.raises(CapabilityError):
        await controller(
            FixedSearch(failing(CapabilityError("K too large"))), FixedSufficiency(lambda _: 1.0), generator()
        ).answer("q")


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("model_calls", 1),
        ("model_calls", 2),
        ("model_calls", 3),
        ("model_calls", 5),
        ("generated_tokens", 70),
    ],
)
async def test_a_spent_budget_ends_the_run_and_is_named(limit: str, value: int):
    chosen = settings(f"budget.{limit}={value}")
    answer, events = await controller(index(), FixedSufficiency(lambda _: 1.0), generator(), chosen).answer(
        "The Rhine?"
    )
    assert answer.budget.spent[limit] <= value
    assert f"budget.{limit} = {value}" in answer.reason
    assert kinds(events)[-2:] == ["stopped", "finished"]
    # With five calls the answer from the evidence was there already.
    assert answer.action == ("answer" if value == 5 else "abstain")


async def test_the_deadline_ends_the_run():
    class Slow(FixedSearch):
        async def search(self, query: str, k: int):
            await asyncio.sleep(30)

    loop = controller(
        Slow(failing(ToolError(""))),
        FixedSufficiency(lambda _: 1.0),
        generator(),
        settings("budget.seconds=0.05"),
    )
    answer, events = await loop.answer("The Rhine?")
    assert answer.action == "abstain"
    assert "budget.seconds" in answer.reason
    assert [(e.stage, e.limit) for e in events if e.kind == "stopped"] == [("retrieve", "seconds")]


@pytest.mark.parametrize("question", ["", "  \n "])
async def test_an_empty_question_is_refused(question: str):
    with pytest.raises(InputError, match="empty"):
        await controller(index(), FixedSufficiency(lambda _: 1.0)).answer(question)


async def test_an_overlong_question_is_refused():
    with pytest.raises(InputError, match=r"100,000 characters, at most 4,000"):
        await controller(index(), FixedSufficiency(lambda _: 1.0)).answer("x" * 100_000)


async def test_many_questions_at_once_do_not_mix():
    loop = controller(index(), FixedSufficiency(lambda _: 1.0), generator())
    questions = [f"Question {n} about the Rhine?" for n in range(20)]
    results = await asyncio.gather(*(loop.answer(q) for q in questions))
    assert [events[0].question for _, events in results] == questions
    assert {answer.budget.spent["model_calls"] for answer, _ in results} == {7}


async def test_what_the_prompt_has_no_room_for_is_not_cited():
    texts = passages("The Rhine rises in the Alps. " * 9, "The Rhine rises in the Alps.")
    chosen = settings("prompts.context_tokens=30")
    loop = controller(index(texts), FixedSufficiency(lambda _: 1.0), generator(), chosen)
    answer, _ = await loop.answer("Where does the Rhine rise?")
    assert [e.admitted for e in answer.evidence] == [True, True]
    assert ["no room" in e.reason for e in answer.evidence] == [True, False]
    assert [c.source for c in answer.citations] == ["doc1.md"]
