"""The generator behind the settings: which backend, and what is refused before the first question."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from backends import random_model
from completions_server import CompletionsServer
from faulty_proxy import FaultyProxy
from http_server import elsewhere
from sufficit.controller.build import build
from sufficit.controller.loading import load_generator
from sufficit.controller.settings import Settings, load
from sufficit.tools.errors import CapabilityError, InputError, SettingsError
from sufficit.tools.generators.http import HttpGenerator
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.models import store
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.types import Passage


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TransformersGenerator:
    return TransformersGenerator.load(random_model(tmp_path_factory.mktemp("tiny")), dtype="float32")


@pytest.fixture
def server(tiny: TransformersGenerator) -> Iterator[CompletionsServer]:
    return CompletionsServer(tiny._loaded)


def over_http(url: str, tiny: TransformersGenerator, *more: str) -> Settings:
    name = tiny.capabilities.model
    given = ["generator.backend=http", f"generator.url={url}", f"generator.model={name}", *more]
    given += ["prompts.context_tokens=256", "igp.top_k=16", "igp.max_tokens=4", "generator.answer_tokens=4"]
    return load(given, environment={}).settings


@pytest.fixture
def index(tmp_path: Path) -> Path:
    text = "The harbour of Vell was built by Mara Oduya in 1874."
    EmbeddedIndex.build(tmp_path / "index", [Passage("0", text, source="vell.md")])
    return tmp_path / "index"


async def test_questions_over_http(
    server: CompletionsServer, tiny: TransformersGenerator, index: Path
) -> None:
    store.install("all-minilm-l6-v2")
    with elsewhere(server.serving()) as served:
        proxy = FaultyProxy(served.url)
        with elsewhere(proxy.serving()) as before:
            controller = build(over_http(before.url, tiny, f"index.path={index}"))
            _, well = await controller.answer("Who built the harbour of Vell?")
            proxy.faults = ["500"] * 1000
            answer, ill = await controller.answer("Who built the harbour of Vell?")
    assert "HTTP 500" not in repr(well)
    assert "HTTP 500: the engine said no (request sufficit-" in repr(ill)
    assert (answer.action, answer.answer) == ("abstain", None)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"most": 5}, r"igp\.top_k = 16 is above the 5 "),
        ({"echo": "refused"}, r"TrustMargin needs: .*\n.*generator\.backend"),
    ],
)
def test_what_the_server_lacks_is_refused_before_the_first_question(
    tiny: TransformersGenerator, index: Path, fault: dict, told: str
) -> None:
    store.install("all-minilm-l6-v2")
    server = CompletionsServer(tiny._loaded, **fault)
    with elsewhere(server.serving()) as served, pytest.raises(CapabilityError, match=told):
        build(over_http(served.url, tiny, f"index.path={index}"))


def test_the_key_comes_from_the_environment(
    server: CompletionsServer, tiny: TransformersGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = "sk-right"
    with elsewhere(server.serving()) as served:
        monkeypatch.setenv("THE_KEY", "sk-wrong")
        settings = over_http(served.url, tiny, "generator.api_key_env=THE_KEY")
        with pytest.raises(SettingsError, match="HTTP 401") as failure:
            load_generator(settings)
        assert "sk-" not in str(failure.value)
        monkeypatch.setenv("THE_KEY", "sk-right")
        assert isinstance(load_generator(settings), HttpGenerator)
    assert "sk-right" not in settings.model_dump_json()


def test_a_served_name_that_is_wrong(server: CompletionsServer, tiny: TransformersGenerator) -> None:
    with elsewhere(server.serving()) as served:
        settings = over_http(served.url, tiny, "generator.model=another")
        with pytest.raises(InputError, match=r"does not serve generator\.model = another"):
            load_generator(settings)


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is here")
def test_vllm_that_is_not_installed(tiny: TransformersGenerator) -> None:
    settings = load(
        ["generator.backend=vllm", f"generator.model={tiny.capabilities.model}"], environment={}
    ).settings
    with pytest.raises(SettingsError, match=r"generator\.backend = vllm.*\n.*sufficit\[vllm\]"):
        load_generator(settings)


def test_transformers_is_the_default(tiny: TransformersGenerator) -> None:
    settings = load([f"generator.model={tiny.capabilities.model}"], environment={}).settings
    assert isinstance(load_generator(settings), TransformersGenerator)


def test_what_is_remembered_is_set(tiny: TransformersGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}
    monkeypatch.setattr(TransformersGenerator, "load", lambda *_, **options: asked.update(options))
    assignments = [f"generator.model={tiny.capabilities.model}", "generator.remembered_tokens=20000"]
    load_generator(load(assignments, environment={}).settings)
    assert asked["prefix_tokens"] == 20000
