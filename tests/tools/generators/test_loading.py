"""Which causal language models are taken."""

from pathlib import Path

import pytest
from sufficit.tools.errors import InputError
from sufficit.tools.generators.transformers import TransformersGenerator
from tokenizers import Tokenizer, models
from transformers import OpenAIGPTConfig, OpenAIGPTLMHeadModel, PreTrainedTokenizerFast


def test_a_model_that_remembers_nothing_it_has_read_is_refused(tmp_path: Path) -> None:
    OpenAIGPTLMHeadModel(
        OpenAIGPTConfig(vocab_size=3, n_embd=8, n_layer=1, n_head=2, n_positions=16)
    ).save_pretrained(tmp_path)
    words = Tokenizer(models.WordLevel({"<unk>": 0, "a": 1, "b": 2}, unk_token="<unk>"))
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>").save_pretrained(tmp_path)
    with pytest.raises(InputError, match="OpenAIGPTLMHeadModel, which cannot read on"):
        TransformersGenerator.load(str(tmp_path), device="cpu", threads=1)
