"""What is found out about servers that lack something, and what is said about it."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from completions_server import CompletionsServer
from http_server import elsewhere
from scripted import ScriptedGenerator
from sufficit.policies.answering import AnswerPrompts
from sufficit.policies.igp import IGPSettings
from sufficit.policies.probing import RolloutProbe
from sufficit.policies.trustmargin import ScoredViews
from sufficit.tools.errors import CapabilityError, InputError, SettingsError
from sufficit.tools.generators.http import HttpGenerator
from sufficit.tools.generators.server import ServerSettings
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.types import Prompt


@contextmanager
def connected(tiny: TransformersGenerator, top_k: int = 128, **faults: Any) -> Iterator[HttpGenerator]:
    name = tiny.capabilities.model
    with elsewhere(CompletionsServer(tiny._loaded, **faults).serving()) as served:
        settings = ServerSettings(url=served.url, tokenizer=name)
        yield HttpGenerator.connect(name, settings, top_k=top_k, context_tokens=2000)


@pytest.mark.parametrize("clips", [False, True], ids=["refuses", "clips"])
@pytest.mark.parametrize("most", [1, 5, 20, 127])
def test_the_largest_k_is_found(tiny: TransformersGenerator, most: int, clips: bool) -> None:
    with connected(tiny, most=most, clips=clips) as generator:
        assert generator.capabilities.max_top_k == (128 if clips and most == 127 else most)


def test_a_limit_of_20_is_named(tiny: TransformersGenerator) -> None:
    with connected(tiny, most=20) as generator:
        with pytest.raises(CapabilityError, match=r"igp\.top_k = 128 is above the 20 .*; lower it"):
            RolloutProbe(generator, IGPSettings(top_k=128))
        RolloutProbe(generator, IGPSettings(top_k=20))


@pytest.mark.parametrize(
    ("echo", "why"),
    [
        ("refused", "echo is not supported"),
        ("bare", "without all of its log-probabilities"),
        ("constant", "the same log-probability"),
        ("shifted", "shifted by one token"),
    ],
)
async def test_scores_that_cannot_be_used(tiny: TransformersGenerator, echo: str, why: str) -> None:
    with connected(tiny, echo=echo) as generator:
        assert not generator.capabilities.scores_prompts
        with pytest.raises(CapabilityError, match=rf"TrustMargin needs: .*{why}") as failure:
            ScoredViews(generator, AnswerPrompts(context_tokens=256))
        assert "generator.backend" in str(failure.value)
        with pytest.raises(CapabilityError, match=why):
            await generator.score(Prompt("x"), [" y"])


@pytest.mark.parametrize("plain", [False, True], ids=["vllm", "plain"])
async def test_a_server_that_puts_a_bos_of_its_own(tiny: TransformersGenerator, plain: bool) -> None:
    bos = tiny._loaded.tokenizer.bos_token_id
    with connected(tiny, bos=bos, plain=plain) as generator:
        prompt = Prompt("One, two,")
        mine, theirs = await generator.generate([prompt], 6), await tiny.generate([prompt], 6)
        assert mine[0].logprobs == pytest.approx(theirs[0].logprobs, abs=1e-3)
        assert mine[0].prompt_tokens == theirs[0].prompt_tokens
        scores = await generator.score(prompt, [" three"])
        assert scores[0] == pytest.approx((await tiny.score(prompt, [" three"]))[0], abs=1e-3)


async def test_a_plain_server_of_completions(tiny: TransformersGenerator) -> None:
    """Tokens as text, no vLLM fields: answers and scores are the same; keys that collide are missing."""
    with connected(tiny, plain=True) as generator:
        prompts = [Prompt("One, two,"), Prompt("Once upon a time")]
        mine, theirs = await generator.rollout(prompts, 6, 20), await tiny.rollout(prompts, 6, 20)
        for rollout, expected in zip(mine, theirs, strict=True):
            assert rollout.generation.text == expected.generation.text
            assert len(rollout.generation.token_ids) == len(expected.generation.token_ids)
            assert rollout.generation.logprobs == pytest.approx(expected.generation.logprobs, abs=1e-3)
            for step, other in zip(rollout.steps, expected.steps, strict=True):
                assert 15 <= len(step) <= 20
                assert step[0] == pytest.approx(other[0], abs=1e-3)
        scores = await generator.score(prompts[0], [" three four", ""])
        assert scores[0] == pytest.approx((await tiny.score(prompts[0], [" three four"]))[0], abs=1e-3)
        assert scores[1] == ()


def test_a_model_that_is_not_served(tiny: TransformersGenerator) -> None:
    loaded = dataclasses.replace(tiny._loaded, name="other-model")
    with elsewhere(CompletionsServer(loaded).serving()) as served:
        settings = ServerSettings(url=served.url, tokenizer=tiny.capabilities.model)
        with pytest.raises(InputError, match=r"not serve generator\.model = mine; it serves other-model"):
            HttpGenerator.connect("mine", settings, top_k=8)


def test_a_server_that_does_not_say_its_context(tiny: TransformersGenerator) -> None:
    name = tiny.capabilities.model
    with elsewhere(CompletionsServer(tiny._loaded, plain=True).serving()) as served:
        with pytest.raises(SettingsError, match=r"set generator\.context_tokens"):
            HttpGenerator.connect(name, ServerSettings(url=served.url, tokenizer=name), top_k=8)
        with pytest.raises(SettingsError, match=r"cannot tokenise.*\n.*generator\.tokenizer"):
            HttpGenerator.connect(name, ServerSettings(url=served.url), top_k=8)


def test_a_wrong_key_names_the_setting(tiny: TransformersGenerator) -> None:
    name = tiny.capabilities.model
    server = CompletionsServer(tiny._loaded, key="sk-right")
    wanted = pytest.raises(SettingsError, match=r"HTTP 401.*\n.*generator\.api_key_env")
    with elsewhere(server.serving()) as served, wanted:
        HttpGenerator.connect(name, ServerSettings(url=served.url, tokenizer=name), top_k=8)


def test_a_scripted_backend_without_scores() -> None:
    lacking = dataclasses.replace(ScriptedGenerator().capabilities, scores_prompts=False)
    with pytest.raises(CapabilityError, match=r"which TrustMargin needs$"):
        ScoredViews(ScriptedGenerator(capabilities=lacking), AnswerPrompts())
