import pytest
from scripted import ScriptedGenerator
from sufficit.controller.budget import BudgetSettings, Ledger
from sufficit.controller.metering import MeteredGenerator
from sufficit.tools.errors import BudgetExhausted, ToolError
from sufficit.tools.types import Prompt

PROMPTS = [Prompt("one"), Prompt("two")]


def metered(generator: ScriptedGenerator | None = None, **limits: int):
    ledger = Ledger(BudgetSettings(**limits))
    return MeteredGenerator(
        generator or ScriptedGenerator(answer=lambda p: "three word answer"), ledger
    ), ledger


async def test_what_was_reserved_and_not_used_is_given_back():
    generator, ledger = metered(generated_tokens=20)
    await generator.generate(PROMPTS, 10)
    assert ledger.spent()["generated_tokens"] == 6
    assert ledger.spent()["model_calls"] == 1
    await generator.rollout([Prompt("x")], 10, 5)
    assert ledger.spent()["generated_tokens"] == 9


async def test_a_call_that_could_go_over_is_refused_before_it_is_made():
    inner = ScriptedGenerator()
    generator, ledger = metered(inner, generated_tokens=19)
    with pytest.raises(BudgetExhausted, match="generated_tokens"):
        await generator.generate(PROMPTS, 10)
    assert inner.calls == []
    assert ledger.spent()["generated_tokens"] == 0


async def test_without_calls_left_no_tokens_stay_reserved():
    generator, ledger = metered(model_calls=1)
    await generator.score(PROMPTS[0], ["a"])
    with pytest.raises(BudgetExhausted, match="model_calls"):
        await generator.generate(PROMPTS, 10)
    assert ledger.spent()["generated_tokens"] == 0


async def test_a_failed_call_is_counted_too():
    def fail(prompt: Prompt) -> str:
        raise ToolError("down")

    generator, ledger = metered(ScriptedGenerator(answer=fail))
    with pytest.raises(ToolError):
        await generator.generate(PROMPTS, 10)
    assert ledger.spent()["model_calls"] == 1
    assert ledger.spent()["generated_tokens"] == 20
