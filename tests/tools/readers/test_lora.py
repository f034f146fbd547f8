import copy

import pytest
import torch
from sufficit.tools.errors import InputError
from sufficit.tools.readers.lora import LowRank, adapt, adapters, merge
from transformers import AutoModel


@pytest.fixture
def encoder(tiny):
    return AutoModel.from_pretrained(tiny).eval()


@pytest.fixture
def inputs():
    return {"input_ids": torch.tensor([[2, 6, 7, 8, 3]]), "attention_mask": torch.ones(1, 5)}


def test_adapters_change_nothing_before_training(encoder, inputs):
    before = encoder(**inputs).last_hidden_state
    adapt(encoder)
    assert torch.equal(encoder(**inputs).last_hidden_state, before)


def test_only_adapters_of_the_upper_layers_are_trained(encoder, inputs):
    adapt(encoder)
    trained = {name for name, parameter in encoder.named_parameters() if parameter.requires_grad}
    assert trained
    assert all(name.endswith((".down", ".up")) for name in trained)
    assert not any("layer.0." in name for name in trained)
    assert any("layer.1." in name for name in trained)
    assert any("layer.2." in name for name in trained)
    assert not any("intermediate" in name or "pooler" in name for name in trained)
    encoder(**inputs).last_hidden_state.sum().backward()
    # Before training B is 0, so A has no slope yet and B has one.
    ups = [p.grad for name, p in encoder.named_parameters() if name.endswith(".up")]
    assert all(grad is not None and grad.abs().sum() > 0 for grad in ups)


def test_an_encoder_without_numbered_layers_is_refused():
    with pytest.raises(InputError, match="Sequential has no numbered layers"):
        adapt(torch.nn.Sequential(torch.nn.Linear(4, 4)))


def test_merged_weights_read_as_adapted_ones(encoder, inputs):
    plain = copy.deepcopy(encoder)
    adapt(encoder)
    for module in encoder.modules():
        if isinstance(module, LowRank):
            torch.nn.init.normal_(module.up, std=0.2)
    adapted = encoder(**inputs).last_hidden_state
    assert not torch.allclose(adapted, plain(**inputs).last_hidden_state, atol=1e-2)
    merge(plain, adapters(encoder))
    assert torch.allclose(plain(**inputs).last_hidden_state, adapted, atol=1e-5)


def test_adapters_of_another_encoder_are_refused(encoder):
    with pytest.raises(AttributeError):
        merge(encoder, {"no.such.layer.down": torch.ones(2, 16), "no.such.layer.up": torch.ones(16, 2)})
    name = "encoder.layer.1.attention.self.query"
    with pytest.raises(RuntimeError):
        merge(encoder, {f"{name}.down": torch.ones(2, 7), f"{name}.up": torch.ones(16, 2)})
