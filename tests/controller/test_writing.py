import asyncio
import math

import pytest
from scripted import ScriptedGenerator
from staged import passages
from sufficit.controller.writing import ClosedBook, WithEvidence, opening_price
from sufficit.policies.answering import AnswerPrompts, PromptWriter
from sufficit.policies.igp import IGPSettings
from sufficit.policies.probing import RolloutProbe

QUESTION = "Where does the Rhine rise?"


def test_opening_costs_one_answer_and_one_probe():
    assert opening_price(32, 64) == {"model_calls": 2, "generated_tokens": 96}


def closed_book(generator):
    probe = RolloutProbe(generator, IGPSettings(top_k=2))
    return ClosedBook(generator, PromptWriter(generator, AnswerPrompts()), probe, 32, {})


async def test_opening_gives_the_answer_from_memory_and_its_uncertainty():
    even = math.log(0.5)
    generator = ScriptedGenerator(answer=lambda prompt: "the Alps", steps=lambda prompt: ((even, even),))
    direct, baseline = await closed_book(generator).open(QUESTION)
    assert direct.text == "the Alps"
    assert baseline == pytest.approx(1.0)
    assert sorted(method for method, _ in generator.calls) == ["generate", "rollout"]
    assert all(QUESTION in prompt.text for _, prompts in generator.calls for prompt in prompts)


async def test_answer_and_probe_are_under_way_together():
    class Both(ScriptedGenerator):
        """Gives nothing until both calls have come."""

        waiting = asyncio.Barrier(2)

        async def generate(self, prompts, max_tokens):
            await self.waiting.wait()
            return await super().generate(prompts, max_tokens)

        async def rollout(self, prompts, max_tokens, top_k):
            await self.waiting.wait()
            return await super().rollout(prompts, max_tokens, top_k)

    async with asyncio.timeout(1):
        direct, _ = await closed_book(Both()).open(QUESTION)
    assert direct.text == "scripted"


def writer(context_tokens):
    generator = ScriptedGenerator(answer=lambda prompt: "the Alps")
    prompts = PromptWriter(generator, AnswerPrompts(context_tokens=context_tokens))
    return WithEvidence(generator, prompts, 32), generator


async def test_what_the_prompt_has_no_room_for_is_not_read():
    evidence = passages("The Rhine rises in the Alps.", "rain " * 200, "The Po rises on Monviso.")
    writes, generator = writer(60)
    written = await writes.write(QUESTION, evidence)
    assert written.rag.text == "the Alps"
    assert [key.id for key in written.read] == ["0", "2"]
    ((_, (prompt,)),) = generator.calls
    assert "Alps" in prompt.text
    assert "Monviso" in prompt.text
    assert "rain" not in prompt.text


async def test_where_no_passage_fits_the_closed_book_prompt_is_asked():
    writes, generator = writer(60)
    written = await writes.write(QUESTION, passages("rain " * 200))
    assert written.read == ()
    ((_, (prompt,)),) = generator.calls
    assert prompt == writes.prompts.question_only(QUESTION)
