import pytest
from sufficit.controller.budget import BudgetSettings, Ledger
from sufficit.controller.recording import Recorder
from sufficit.controller.trace import VERSION, Started, Stopped
from sufficit.tools.errors import BudgetExhausted, ToolError


def recorder(ledger: Ledger | None = None, listener=None) -> Recorder:
    started = Started(version=VERSION, question="q", settings={}, models={}, web=False)
    return Recorder(started, ledger or Ledger(BudgetSettings()), listener)


def test_an_event_bears_the_cost_of_its_stage_and_no_other():
    ledger = Ledger(BudgetSettings())
    record = recorder(ledger)
    ledger.spend("rounds")
    with record.stage("score"):
        ledger.spend("model_calls", 2)
        ledger.count("prompt_tokens", 7)
    record.fault(ToolError("broken"))
    with record.stage("prune"):
        pass
    record.fault(ToolError("again"))
    _, first, second = record.events
    assert (first.stage, first.error, first.message, first.cost) == (
        "score",
        "ToolError",
        "broken",
        {"model_calls": 2, "prompt_tokens": 7},
    )
    assert second.cost == {}


def test_work_from_a_purse_costs_what_the_purse_spent():
    ledger = Ledger(BudgetSettings())
    purse = ledger.purse({"model_calls": 3})
    purse.spend("model_calls")
    record = recorder(ledger)
    with record.stage("open", purse):
        purse.spend("model_calls")
        purse.count("prompt_tokens", 5)
    record.fault(ToolError("x"))
    assert record.events[-1].cost == {"model_calls": 2, "prompt_tokens": 5}


def test_times_add_up_by_stage_also_where_it_fails():
    now = [0.0]
    record = recorder(Ledger(BudgetSettings(), clock=lambda: now[0]))

    def fail():
        with record.stage("write"):
            now[0] += 1.5
            raise ToolError("x")

    for _ in range(2):
        with pytest.raises(ToolError):
            fail()
    assert record.timings == {"write": 3.0}


def test_listeners_hear_every_event_and_a_stop_names_its_stage():
    heard = []
    record = recorder(listener=heard.append)
    with pytest.raises(BudgetExhausted), record.stage("arbitrate"):
        raise BudgetExhausted("model_calls", 3)
    record.stopped(BudgetExhausted("model_calls", 3))
    assert tuple(heard) == record.events
    assert isinstance(heard[-1], Stopped)
    assert (heard[-1].stage, heard[-1].limit, heard[-1].allowed) == ("arbitrate", "model_calls", 3)
