"""A server's tokenizer against the same tokenizer here."""

from collections.abc import Iterator

import pytest
from completions_server import CompletionsServer
from http_server import elsewhere
from sufficit.tools.errors import CapabilityError
from sufficit.tools.generators.client import ServerClient
from sufficit.tools.generators.http import HttpGenerator
from sufficit.tools.generators.remote_encoding import RemoteEncoding
from sufficit.tools.generators.server import ServerSettings
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.types import Prompt

PROMPTS = (
    Prompt("Hello"),
    Prompt(""),
    Prompt("Zürich – 東京 🏯"),
    Prompt("Who?", style="chat"),
    Prompt("Who?", style="chat", system="Be brief."),
)


@pytest.fixture(scope="module")
def served(tiny: TransformersGenerator) -> Iterator[str]:
    with elsewhere(CompletionsServer(tiny._loaded).serving()) as server:
        yield server.url


def encoding(url: str, tiny: TransformersGenerator) -> RemoteEncoding:
    return RemoteEncoding(ServerClient(ServerSettings(url=url)), tiny.capabilities.model)


def test_the_same_ids_as_here(served: str, tiny: TransformersGenerator) -> None:
    remote = encoding(served, tiny)
    for prompt in PROMPTS:
        assert remote.prompt_ids(prompt) == tiny._encoder.prompt_ids(prompt)
        assert remote.text_ids(prompt.text) == tiny._encoder.text_ids(prompt.text)
    assert remote.bos == tiny._encoder.bos
    assert remote.control_tokens == tiny._encoder.control_tokens
    assert remote.has_chat_template
    assert remote.text(remote.text_ids("Zürich – 東京 🏯")) == "Zürich – 東京 🏯"


def test_a_server_that_does_not_list_its_tokens(tiny: TransformersGenerator) -> None:
    with elsewhere(CompletionsServer(tiny._loaded, lists_tokens=False).serving()) as server:
        remote = encoding(server.url, tiny)
        assert set(remote.control_tokens) == {"<|im_start|>", "<|im_end|>", "<|endoftext|>"}
        assert remote.bos is None  # this tokenizer puts none before a text
        for prompt in PROMPTS[3:]:
            assert remote.prompt_ids(prompt) == tiny._encoder.prompt_ids(prompt)


def test_a_model_without_a_chat_template(
    served: str, tiny: TransformersGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiny._loaded.tokenizer, "chat_template", None)
    remote = encoding(served, tiny)
    assert not remote.has_chat_template
    with pytest.raises(CapabilityError, match="style completion"):
        remote.prompt_ids(Prompt("x", style="chat"))


async def test_a_generator_without_a_tokenizer_here(served: str, tiny: TransformersGenerator) -> None:
    generator = HttpGenerator.connect(tiny.capabilities.model, ServerSettings(url=served), top_k=8)
    whole = (await tiny.generate([Prompt("x")], 8))[0].text
    for prompt in (*PROMPTS[3:], Prompt("x", stop=(whole[3:5],)), Prompt("x", stop=(whole[:2],))):
        mine, theirs = await generator.rollout([prompt], 8, 8), await tiny.rollout([prompt], 8, 8)
        assert mine[0].generation.text == theirs[0].generation.text
        assert mine[0].generation.token_ids == theirs[0].generation.token_ids
        assert len(mine[0].steps) == len(theirs[0].steps)
    assert generator.count_tokens("one two three") == tiny.count_tokens("one two three")
    scores = await generator.score(PROMPTS[0], [" there", ""])
    assert scores[0] == pytest.approx((await tiny.score(PROMPTS[0], [" there"]))[0], abs=1e-3)
