"""What every backend keeps: the same answers, entropies and scores, whoever computes them."""

import asyncio
import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from backends import BACKENDS, CONTEXT, TOP_K, contract_model, opened
from sufficit.policies.igp import step_entropy
from sufficit.tools.errors import CapabilityError, InputError
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.types import Prompt, Rollout

EXAMPLES = (
    "Question: What colour do blue and yellow paint make when mixed?\nAnswer: Green\n\n"
    "Question: How many legs does a spider have?\nAnswer: Eight\n\n"
)
PASSAGE = "The harbour of Vell was built by Mara Oduya in 1874. It lies on the river Tarn. " * 4


def asked(question: str) -> Prompt:
    return Prompt(f"{EXAMPLES}Question: {question}\nAnswer:", stop=("\n",), lead=" ")


PROMPTS = (
    asked("What is the capital of France?"),
    Prompt("What is the capital of Italy?", style="chat"),
    Prompt("Name a river.", style="chat", system="Answer in one word."),
    Prompt("x"),
    Prompt("Die Hauptstädte – Zürich, 東京 und 🏯:"),
    Prompt(PASSAGE + "\n\nWho built the harbour of Vell?\nAnswer:", stop=("\n",)),
)
CONTINUATIONS = (" Paris", "", "Paris", " São Tomé – 東京 🏯", " 1874", " the city of Paris, on the Seine")


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> TransformersGenerator:
    return TransformersGenerator.load(contract_model(tmp_path_factory.mktemp("model")), dtype="float32")


@pytest.fixture(params=BACKENDS, scope="module")
def backend(request: pytest.FixtureRequest, generator: TransformersGenerator) -> Iterator[Any]:
    with opened(request.param, generator) as found:
        yield found


@pytest.fixture(scope="module")
def reference(generator: TransformersGenerator) -> Iterator[Any]:
    with opened("transformers", generator) as found:
        yield found


def ids_of(generator: TransformersGenerator, prompt: Prompt) -> list[int]:
    return list(generator._encoder.prompt_ids(prompt))


def full_logprobs(generator: TransformersGenerator, ids: Sequence[int]) -> torch.Tensor:
    with torch.inference_mode():
        logits = generator._loaded.model(torch.tensor([list(ids)]), use_cache=False).logits[0]
    return torch.log_softmax(logits.float(), dim=-1)


def assert_same(rollout: Rollout, expected: Rollout, within: float) -> None:
    generation, wanted = rollout.generation, expected.generation
    assert generation.text == wanted.text
    assert generation.token_ids == wanted.token_ids
    assert (generation.finish, generation.prompt_tokens) == (wanted.finish, wanted.prompt_tokens)
    assert generation.logprobs == pytest.approx(wanted.logprobs, abs=within)
    assert len(rollout.steps) == len(expected.steps)
    for step, other in zip(rollout.steps, expected.steps, strict=True):
        assert step == pytest.approx(other, abs=within)
        assert step_entropy(step) == pytest.approx(step_entropy(other), abs=within)


async def test_answers_and_entropies_agree(backend: Any, reference: TransformersGenerator) -> None:
    mine, theirs = await backend.rollout(PROMPTS, 8, TOP_K), await reference.rollout(PROMPTS, 8, TOP_K)
    for rollout, expected in zip(mine, theirs, strict=True):
        assert_same(rollout, expected, within=1e-3)
        assert {len(step) for step in rollout.steps} == {TOP_K}


async def test_stop_strings_cut_alike(backend: Any, reference: TransformersGenerator) -> None:
    whole = (await reference.generate([PROMPTS[3]], 8))[0].text
    for stop in (whole[:3], whole[4:6], whole[-5:-1], whole[6] + "never", whole + " never"):
        prompt = dataclasses.replace(PROMPTS[3], stop=("never", stop))
        mine, theirs = await backend.rollout([prompt], 8, 5), await reference.rollout([prompt], 8, 5)
        assert_same(mine[0], theirs[0], within=1e-3)
        assert mine[0].generation.finish == ("stop" if stop in whole else "length")
        assert stop not in mine[0].generation.text


async def test_generate_is_the_rollouts_answer(backend: Any) -> None:
    answers = await backend.generate(PROMPTS[:3], 8)
    rollouts = await backend.rollout(PROMPTS[:3], 8, 1)
    for answer, rollout in zip(answers, rollouts, strict=True):
        assert answer.text == rollout.generation.text
        assert answer.token_ids == rollout.generation.token_ids
        assert answer.logprobs == pytest.approx(rollout.generation.logprobs, abs=1e-4)


@pytest.mark.parametrize("prompt", PROMPTS[:2], ids=["completion", "chat"])
async def test_scores_token_by_token(backend: Any, generator: TransformersGenerator, prompt: Prompt) -> None:
    scores = await backend.score(prompt, CONTINUATIONS)
    ids = ids_of(generator, prompt)
    for text, score in zip(CONTINUATIONS, scores, strict=True):
        tokens = generator._loaded.tokenizer.encode(text, add_special_tokens=False)
        logprobs = full_logprobs(generator, ids + tokens)
        expected = [float(logprobs[len(ids) - 1 + t, token]) for t, token in enumerate(tokens)]
        assert score == pytest.approx(expected, abs=1e-3)
        assert backend.count_tokens(text) == len(tokens)
    assert scores[1] == ()


async def test_one_and_many_agree(backend: Any) -> None:
    many = await backend.rollout(PROMPTS, 4, TOP_K)
    for prompt, together in zip(PROMPTS, many, strict=True):
        assert_same((await backend.rollout([prompt], 4, TOP_K))[0], together, within=1e-4)
    scores = await backend.score(PROMPTS[0], CONTINUATIONS)
    for text, together in zip(CONTINUATIONS, scores, strict=True):
        assert (await backend.score(PROMPTS[0], [text]))[0] == pytest.approx(together, abs=1e-4)


async def test_own_answers_score_as_they_were_written(backend: Any, generator: TransformersGenerator) -> None:
    answer = (await backend.generate([PROMPTS[4]], 8))[0]
    written = generator._encoder.text(answer.token_ids)
    assert generator._encoder.text_ids(written) == answer.token_ids  # else another prompt must be taken
    score = (await backend.score(PROMPTS[4], [written]))[0]
    assert score == pytest.approx(answer.logprobs, abs=1e-3)


async def test_the_prompt_may_fill_the_context(backend: Any, reference: TransformersGenerator) -> None:
    def long(tokens: int) -> Prompt:
        return Prompt(" one" * (tokens - 1))  # BOS is one too

    assert backend.capabilities.context_tokens == CONTEXT
    assert len(ids_of(reference, long(CONTEXT - 2))) == CONTEXT - 2
    answer = (await backend.generate([long(CONTEXT - 2)], 10))[0]
    assert (len(answer.token_ids), answer.finish) == (2, "length")
    scores = await backend.score(long(CONTEXT - 2), [" five six"])
    assert scores[0] == pytest.approx((await reference.score(long(CONTEXT - 2), [" five six"]))[0], abs=1e-3)
    with pytest.raises(InputError, match=str(CONTEXT)):
        await backend.score(long(CONTEXT - 2), [" five six seven"])
    with pytest.raises(InputError, match=str(CONTEXT)):
        await backend.generate([long(CONTEXT)], 1)


async def test_many_callers(backend: Any, reference: TransformersGenerator) -> None:
    prompts = [Prompt(f"{n} +") for n in range(128)]
    answers = await asyncio.gather(*(backend.generate([prompt], 1) for prompt in prompts))
    expected = await reference.generate(prompts, 1)
    assert [answer[0].token_ids for answer in answers] == [wanted.token_ids for wanted in expected]


async def test_cancellation_frees_the_slot(backend: Any, reference: TransformersGenerator) -> None:
    stories = [Prompt(f"Tell me a long story about {n} ships.", style="chat") for n in range(256)]
    tasks = [asyncio.create_task(backend.generate([story], 400)) for story in stories]
    await asyncio.wait(tasks, timeout=1)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    cancelled = sum(isinstance(end, asyncio.CancelledError) for end in ended)
    assert cancelled > len(stories) / 2
    started = time.monotonic()
    answer = await backend.generate([PROMPTS[0]], 3)
    # What is left of the stories takes minutes; nobody waits for more than the step that was running.
    assert time.monotonic() - started < 30
    assert answer[0].token_ids == (await reference.generate([PROMPTS[0]], 3))[0].token_ids


async def test_what_is_refused(backend: Any) -> None:
    most = backend.capabilities.max_top_k
    for top_k in (0, most + 1):
        with pytest.raises(CapabilityError, match=f"1 to {most}"):
            await backend.rollout([Prompt("x")], 1, top_k)
    with pytest.raises(InputError, match="max_tokens = 0"):
        await backend.generate([Prompt("x")], 0)


async def test_capabilities(backend: Any, reference: TransformersGenerator) -> None:
    found, expected = backend.capabilities, reference.capabilities
    assert found.max_top_k >= TOP_K
    assert found.scores_prompts
    assert found.why_no_scores == ""
    assert found.has_chat_template
    assert found.control_tokens == expected.control_tokens


async def test_no_prompts(backend: Any) -> None:
    assert await backend.generate([], 4) == []
    assert await backend.rollout([], 4, 4) == []
    assert await backend.score(Prompt("x"), []) == []
