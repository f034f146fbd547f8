from dataclasses import dataclass, replace

import numpy as np
import pytest
from scripted import ScriptedGenerator
from sufficit.controller.budget import BudgetSettings, Ledger
from sufficit.controller.metering import (
    MeteredEncoder,
    MeteredGenerator,
    MeteredJointReader,
    MeteredReranker,
    MeteredSpanReader,
)
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


@dataclass
class Reading(ScriptedGenerator):
    """A generator, and an encoder, whose prompts have a token a word."""

    async def generate(self, prompts, max_tokens):
        answers = await super().generate(prompts, max_tokens)
        return [self._read(answer, prompt) for answer, prompt in zip(answers, prompts, strict=True)]

    async def rollout(self, prompts, max_tokens, top_k):
        rollouts = await super().rollout(prompts, max_tokens, top_k)
        pairs = zip(rollouts, prompts, strict=True)
        return [replace(r, generation=self._read(r.generation, prompt)) for r, prompt in pairs]

    async def states(self, prompts, layers):
        return np.zeros((len(layers), len(prompts), 1), np.float32)

    def _read(self, answer, prompt):
        return replace(answer, prompt_tokens=self.count_tokens(prompt.text))


async def test_tokens_of_prompts_are_counted_and_limited_by_nothing():
    generator, ledger = metered(Reading(), generated_tokens=100)

    async def read(call):
        before = ledger.cost()["prompt_tokens"]
        await call
        return ledger.cost()["prompt_tokens"] - before

    long = Prompt("one " * 10_000)
    assert await read(generator.generate([long, Prompt("two words")], 10)) == 10_002
    assert await read(generator.rollout([Prompt("one"), Prompt("and two")], 10, 5)) == 3
    # The prompt once, and of each continuation the one token that it is scored by.
    assert await read(generator.score(Prompt("three words here"), ["a", "b"])) == 5
    await MeteredEncoder(Reading(), ledger).states([Prompt("four"), Prompt("five six")], [1, 2])
    assert ledger.cost() == ledger.spent() | {"prompt_tokens": 10_013, "reader_calls": 0}
    assert "prompt_tokens" not in ledger.account().spent


class Readers:
    """A reranker, a span reader and a joint reader in one, which fail at an empty question."""

    fingerprint = "of the reader"

    async def score(self, queries, texts):
        return np.ones((len(queries), len(texts)), np.float32)

    async def margins(self, question, texts):
        if not question:
            raise ToolError("no question")
        return np.ones(len(texts), np.float32)

    async def sufficiency(self, question, texts):
        return float(len(texts))


async def test_calls_of_readers_are_counted_on_failure_too_and_limited_by_nothing():
    ledger = Ledger(BudgetSettings(model_calls=0))
    rerank, spans, joint = (
        kind(Readers(), ledger) for kind in (MeteredReranker, MeteredSpanReader, MeteredJointReader)
    )
    assert (await rerank.score(["a", "b"], ["x", "y", "z"])).shape == (2, 3)
    assert (await spans.margins("a", ["x", "y"])).shape == (2,)
    assert await joint.sufficiency("a", ["x", "y"]) == 2
    with pytest.raises(ToolError):
        await spans.margins("", ["x"])
    assert ledger.cost() == ledger.spent() | {"prompt_tokens": 0, "reader_calls": 4}
    assert {reader.fingerprint for reader in (rerank, spans, joint)} == {"of the reader"}
