import json
from dataclasses import replace

import pytest
from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.evaluation.datasets.questions import Question
from sufficit.controller.evaluation.runs.finished import outcome
from sufficit.controller.evaluation.runs.rows import FoundPassage, Hashes, StageCost
from sufficit.controller.trace import Fault, Opened, Retrieved, Started, Wrote, from_json
from sufficit.tools.errors import ToolError
from sufficit.tools.types import Generation, Passage

HASHES = Hashes(settings="s", artifact="a", index="i", data="d")
QUESTION = Question("q\u00e9", "Where does the Rhine rise?", ("the Alps",), {"doc0.md": 2, "doc1.md": 0})
ALPS, PO = passages("The Rhine rises in the Alps.", "The Po rises on Monviso.")
NOTHING = Generation("", (), (), "stop", 0)


async def answered(score=1.0):
    loop = controller(
        FixedSearch(lambda query: [ALPS, PO]),
        FixedSufficiency(lambda _: score),
        ScriptedGenerator(
            answer=lambda prompt: "the Alps" if "Alps" in prompt.text else "Berlin",
            steps=lambda prompt: ((-0.01, -6.0),) if "Alps" in prompt.text else ((-0.7, -0.7),),
        ),
    )
    return await loop.answer(QUESTION.text)


async def test_a_row_says_what_the_answer_says():
    answer, events = await answered()
    row = outcome("full", HASHES, QUESTION, events).row
    assert (row.config, row.id, row.question, row.answers) == (
        "full",
        QUESTION.id,
        QUESTION.text,
        ("the Alps",),
    )
    assert (row.action, row.answer, row.source, row.grounded) == ("answer", "the Alps", "rag", True)
    assert (row.direct, row.rag, row.score, row.threshold) == ("Berlin", "the Alps", 1.0, 0.0)
    alps = FoundPassage(source="doc0.md", id="0", title="T0")
    assert row.admitted == row.read == row.citations == (alps,)
    assert (row.timings, row.trace_id, row.error) == (answer.timings, answer.trace_id, "")
    assert row.spent == {name: value for name, value in answer.budget.spent.items() if name != "seconds"}


async def test_support_is_what_the_set_marks_as_needed():
    _, events = await answered()
    assert outcome("full", HASHES, QUESTION, events).row.support == ("doc0.md",)
    for relevant in ({}, {"doc1.md": 0}):
        unmarked = replace(QUESTION, relevant=relevant)
        assert outcome("full", HASHES, unmarked, events).row.support is None


async def test_an_abstention_has_no_answer_and_no_evidence_in_the_prompt():
    _, events = await answered(score=-1.0)
    row = outcome("full", HASHES, QUESTION, events).row
    assert (row.action, row.answer, row.source, row.rag) == ("abstain", None, "none", None)
    assert (row.admitted, row.read, row.citations) == ((), (), ())
    assert [passage.id for passage in row.pool] == ["0", "1"]


async def test_the_trace_is_one_line_of_ascii_that_reads_back():
    _, events = await answered()
    trace = outcome("full", HASHES, QUESTION, events).trace
    assert trace.isascii()
    assert trace.endswith("\n")
    assert trace.count("\n") == 1
    found = json.loads(trace)
    assert (found["id"], found["config"], found["hashes"]["data"]) == (QUESTION.id, "full", "d")
    assert tuple(map(from_json, found["events"])) == events


@pytest.mark.parametrize("error", [ToolError("gone"), None])
async def test_a_run_without_an_end_failed_but_keeps_what_was_found(error):
    _, (*events, _) = await answered()
    row = outcome("full", HASHES, QUESTION, events, error).row
    assert (row.action, row.answer, row.source) == ("failed", None, "none")
    assert row.error == ("ToolError: gone" if error else "the run came to no end")
    assert row.timings == {"total": events[-1].at}
    assert [passage.id for passage in row.pool] == ["0", "1"]
    assert row.stages["open"].model_calls == 2


async def test_an_error_after_the_end_counts():
    _, events = await answered()
    assert outcome("full", HASHES, QUESTION, events, ToolError("gone")).row.action == "failed"


def test_a_run_that_never_began_is_a_failed_row_all_the_same():
    row = outcome("full", HASHES, QUESTION, (), ToolError("gone")).row
    assert (row.action, row.timings, row.pool, row.stages, row.faults) == ("failed", {}, (), {}, ())


def retrieved(origin, found, new):
    return Retrieved(origin=origin, query="?", passages=tuple(found), new=tuple(p.key for p in new))


def test_the_pool_holds_what_was_new_in_every_round_and_the_first_of_a_key():
    again = Passage("0", "The Rhine rises in the Alps.", "Another title", "doc0.md")
    web = Passage("w", "On the web.", "Web", "https://x.example/")
    events = [
        Started(version=1, question="?", settings={}, models={}, web=True),
        retrieved("index", [ALPS, again], [ALPS]),
        retrieved("index", [PO, ALPS], [PO]),
        retrieved("web", [web], []),
    ]
    row = outcome("full", HASHES, QUESTION, events).row
    assert [(found.id, found.title) for found in row.pool] == [("0", "T0"), ("1", "T1")]
    assert [[found.id for found in round_] for round_ in row.retrieved] == [["0", "0"], ["1", "0"], ["w"]]


def test_costs_add_up_by_stage_in_the_order_in_which_the_stages_came():
    events = [
        Started(version=1, question="?", settings={}, models={}, web=True, cost={"rounds": 1}),
        replace(retrieved("index", [], []), cost={"rounds": 1, "prompt_tokens": 5}),
        Opened(direct=NOTHING, baseline=0.5, cost={"model_calls": 2, "generated_tokens": 9}),
        replace(retrieved("web", [], []), cost={"web_fetches": 3}),
        replace(retrieved("index", [], []), cost={"prompt_tokens": 7, "reader_calls": 1}),
        Fault(stage="write", error="ToolError", message="gone", cost={"model_calls": 1}),
        Wrote(rag=NOTHING, read=(), cost={"model_calls": 1}),
    ]
    row = outcome("full", HASHES, QUESTION, events).row
    assert list(row.stages) == ["retrieve", "open", "web", "write"]
    assert row.stages == {
        "retrieve": StageCost(prompt_tokens=12, reader_calls=1),
        "open": StageCost(model_calls=2, generated_tokens=9),
        "web": StageCost(),
        "write": StageCost(model_calls=2),
    }
    assert row.faults == ("write: ToolError: gone",)
