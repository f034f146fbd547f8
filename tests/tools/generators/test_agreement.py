"""Which models say the same of a row in a batch as alone; random weights."""

from typing import Any

import pytest
import torch
from small_models import CONFIGURATIONS, GROUPED
from sufficit.tools.errors import InputError, ModelOutputError
from sufficit.tools.generators.agreement import check_agreement
from sufficit.tools.generators.forward import CausalModel
from transformers import AutoModelForCausalLM, BartConfig, LlamaConfig, RobertaConfig

VOCABULARY = 97
DTYPES = [torch.float32, torch.bfloat16]

# Their positions begin behind the padding token's id, or are counted in the mask.
OTHERS = {
    "roberta": RobertaConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=64,
        is_decoder=True,
    ),
    "bart": BartConfig(
        vocab_size=VOCABULARY,
        d_model=32,
        decoder_layers=2,
        decoder_attention_heads=4,
        decoder_ffn_dim=48,
        max_position_embeddings=64,
        is_decoder=True,
        is_encoder_decoder=False,
    ),
}


def causal(config: Any, dtype: torch.dtype) -> CausalModel:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=dtype).eval()
    for parameter in model.parameters():
        parameter.data.mul_(3 if parameter.dim() > 1 else 1)
    return CausalModel(model, prefix_tokens=512)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_models_that_agree_are_taken(name: str, dtype: torch.dtype) -> None:
    check_agreement(causal(CONFIGURATIONS[name](), dtype), name, VOCABULARY)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OTHERS)
def test_models_that_would_answer_wrongly_are_refused(name: str, dtype: torch.dtype) -> None:
    with pytest.raises(InputError, match=rf"{name} says something else .*\(total variation 0\.1"):
        check_agreement(causal(OTHERS[name], dtype), name, VOCABULARY)


def test_a_pass_that_fails_is_told() -> None:
    with pytest.raises(InputError, match="cannot be read in batches: IndexError"):
        check_agreement(causal(LlamaConfig(**GROUPED | {"vocab_size": 20}), torch.float32), "llama", 97)


def test_logits_that_are_not_finite() -> None:
    model = causal(CONFIGURATIONS["llama"](), torch.float32)
    model.model.lm_head.weight.data[3] = float("nan")
    with pytest.raises(ModelOutputError, match="not finite; try dtype float32"):
        check_agreement(model, "llama", VOCABULARY)
