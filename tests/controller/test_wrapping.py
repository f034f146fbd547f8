from types import SimpleNamespace

import pytest
from scripted import ScriptedGenerator, capabilities
from sufficit.controller.wrapping import AroundEncoder, AroundGenerator, AroundReader


def test_a_generator_around_another_can_what_that_one_can_and_costs_no_call():
    inner = ScriptedGenerator(capabilities=capabilities(model="inner", max_top_k=7))
    outer = AroundGenerator(AroundGenerator(inner))
    assert outer.capabilities is inner.capabilities
    assert outer.count_tokens("three words here") == 3
    assert inner.calls == []


def test_what_artifacts_know_a_model_by_is_the_inner_models():
    assert AroundReader(AroundReader(SimpleNamespace(fingerprint="f"))).fingerprint == "f"
    able = capabilities()
    inner = SimpleNamespace(fingerprint="f", capabilities=able, depth=30, count_tokens=len)
    outer = AroundEncoder(inner)
    assert (outer.fingerprint, outer.capabilities, outer.depth) == ("f", able, 30)
    assert outer.count_tokens("four") == 4


def test_nothing_else_of_the_inner_model_shows():
    with pytest.raises(AttributeError):
        AroundEncoder(SimpleNamespace(name="n")).name  # noqa: B018
