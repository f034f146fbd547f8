from dataclasses import replace

import pytest
from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.replay import recorded_settings, replay
from sufficit.controller.settings import load
from sufficit.tools.errors import SettingsError, ToolError

TEXTS = passages("The Rhine rises in the Alps.", "The Po rises on Monviso.")


def answers(prompt):
    return "the Alps" if "Alps" in prompt.text else "Berlin"


def steps(prompt):
    return ((-0.01, -6.0),) if "Alps" in prompt.text else ((-0.7, -0.7),)


async def recorded(*assignments: str, search=None, sufficiency=None, web=None, **scripted):
    loop = controller(
        search or FixedSearch(lambda query: list(TEXTS)),
        sufficiency or FixedSufficiency(lambda _: 1.0, ("rhine",)),
        ScriptedGenerator(**({"answer": answers, "steps": steps} | scripted)),
        load(assignments, environment={}).settings,
        web,
    )
    return (await loop.answer("Where does the Rhine rise?"))[1]


def fail(*_):
    raise ToolError("gone")


def fail_for_one(found):
    if len(found) == 1:
        raise ToolError("gone")
    return 1.0


RUNS = {
    "answered": {},
    "abstained": {"sufficiency": FixedSufficiency(lambda _: -1.0, ("rhine rise", "where does"))},
    "web": {"sufficiency": FixedSufficiency(lambda _: -1.0), "web": FixedSearch(lambda q: passages("x"))},
    "index fault": {"search": FixedSearch(fail)},
    "score fault": {"sufficiency": FixedSufficiency(fail)},
    "open and prune fault": {"steps": fail},
    "arbiter fault": {"logprobs": fail},
    "agree": {"answer": lambda prompt: "Same"},
    "empty": {"answer": lambda prompt: ""},
    # Nothing gains, so nothing is admitted, and the guard looks for a set that suffices.
    "guarded": {"steps": lambda prompt: ((-0.7, -0.7),), "sufficiency": FixedSufficiency(len, ("rhine",))},
    "guard fault": {"steps": lambda prompt: ((-0.7, -0.7),), "sufficiency": FixedSufficiency(fail_for_one)},
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS.keys())
async def test_every_run_replays_the_same(run):
    events = await recorded(**run)
    result = await replay(events)
    assert result.diverged is None
    assert result.differences == ()
    assert result.same


async def test_a_trace_from_before_prompt_tokens_were_counted_replays_the_same():
    events = await recorded()
    assert {event.kind for event in events if "prompt_tokens" in event.cost} == {"arbitrated"}
    older = [
        replace(event, cost={name: n for name, n in event.cost.items() if name != "prompt_tokens"})
        for event in events
    ]
    assert (await replay(older)).same
    changed = [replace(event, cost=event.cost | {"model_calls": 9}) for event in older]
    assert not (await replay(changed)).same


@pytest.mark.parametrize(
    "assignments",
    [
        ("igp.set_aware=true",),
        ("igp.common_horizon=true",),
        ("igp.set_aware=true", "igp.common_horizon=true", "igp.guard=false"),
        ("igp.gates.min_uncertainty=1.0",),
        ("igp.gates.min_pass_rate=1.0", "igp.guard=false"),
        ("igp.near_duplicate=none",),
    ],
)
async def test_every_way_of_pruning_replays_the_same(assignments: tuple[str, ...]):
    twice = [*TEXTS, *passages("", "", "The Rhine rises in the Alps.")[2:]]
    result = await replay(await recorded(*assignments, search=FixedSearch(lambda query: twice)))
    assert (result.diverged, result.differences) == (None, ())


async def test_the_guard_decides_again_on_what_it_measured():
    events = await recorded(**RUNS["guarded"])
    (pruned,) = [e for e in events if e.kind == "pruned"]
    assert len(pruned.report.admitted) == len(pruned.report.guard.kept) == 1
    off = await replay(events, recorded_settings(events[0], {"igp.guard": False}))
    assert [d.replayed for d in off.differences if d.key == "report.admitted.0"] == [None]


@pytest.mark.parametrize(
    "limit",
    ["model_calls=1", "model_calls=2", "model_calls=3", "model_calls=5", "generated_tokens=70", "passages=1"],
)
async def test_runs_that_a_budget_ended_replay_the_same(limit: str):
    result = await replay(await recorded(f"budget.{limit}"))
    assert (result.diverged, result.differences) == (None, ())


async def test_a_run_that_the_deadline_ended_replays_the_same():
    import asyncio

    class Slow(FixedSearch):
        async def search(self, query: str, k: int):
            await asyncio.sleep(5)

    events = await recorded("budget.seconds=0.05", search=Slow(fail))
    assert [e.kind for e in events][-2:] == ["stopped", "finished"]
    result = await replay(events)
    assert (result.diverged, result.differences) == (None, ())


async def test_a_changed_measurement_is_named():
    events = await recorded()
    changed = [
        replace(e, decision=replace(e.decision, action="abstain")) if e.kind == "decided" else e
        for e in events
    ]
    result = await replay(changed)
    assert not result.same
    assert [(d.event, d.key, d.recorded, d.replayed) for d in result.differences] == [
        (4, "decision.action", "abstain", "answer")
    ]


async def test_other_settings_decide_otherwise_on_the_same_measurements():
    events = await recorded()
    settings = recorded_settings(events[0], {"trustmargin.tau": 5.0})
    result = await replay(events, settings)
    assert result.diverged is None
    (source,) = [d for d in result.differences if d.key == "verdict.source"]
    assert (source.recorded, source.replayed) == ("rag", "direct")


async def test_a_replay_stops_where_nobody_measured():
    events = await recorded("igp.guard=false")
    result = await replay(events, recorded_settings(events[0], {"igp.threshold": float("-inf")}))
    assert "other passages were admitted" in result.diverged
    assert not result.same
    raised = await replay(events, recorded_settings(events[0], {"rinse.threshold": 9.0}))
    assert "nothing more was recorded" in raised.diverged
    guarded = await replay(events, recorded_settings(events[0], {"igp.guard": True}))
    assert "the guard scores a set" in guarded.diverged


async def test_unknown_changes_are_refused():
    events = await recorded()
    with pytest.raises(SettingsError, match="unknown setting"):
        recorded_settings(events[0], {"igp.nope": 1})
