"""Configurations of small causal language models, one an architecture, with random weights."""

from collections.abc import Callable
from typing import Any

from transformers import (
    BloomConfig,
    FalconConfig,
    Gemma3TextConfig,
    GPT2Config,
    GPTNeoConfig,
    Lfm2Config,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    MptConfig,
    Qwen2Config,
)

SIZES: dict[str, Any] = {
    "vocab_size": 97,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "pad_token_id": 2,
    "eos_token_id": 2,
    "bos_token_id": 1,
}
GROUPED = SIZES | {"num_key_value_heads": 2, "intermediate_size": 48, "max_position_embeddings": 256}

CONFIGURATIONS: dict[str, Callable[[], Any]] = {
    "llama": lambda: LlamaConfig(**GROUPED),
    "qwen2": lambda: Qwen2Config(**GROUPED),
    "gpt2": lambda: GPT2Config(
        vocab_size=97, n_embd=32, n_layer=3, n_head=4, n_positions=256, pad_token_id=2, eos_token_id=2
    ),
    "bloom": lambda: BloomConfig(**(SIZES | {"n_layer": 3, "n_head": 4})),
    "falcon with ALiBi": lambda: FalconConfig(**SIZES, alibi=True),
    "mpt, ALiBi over columns": lambda: MptConfig(
        d_model=32, n_heads=4, n_layers=3, vocab_size=97, max_seq_len=256
    ),
    "gpt-neo, windows over columns": lambda: GPTNeoConfig(
        vocab_size=97,
        hidden_size=32,
        num_layers=3,
        num_heads=4,
        attention_types=[[["global", "local", "local"], 1]],
        window_size=8,
        max_position_embeddings=128,
    ),
    "mamba, recurrent": lambda: MambaConfig(vocab_size=97, hidden_size=32, num_hidden_layers=3, state_size=4),
    "lfm2, convolutions and attention": lambda: Lfm2Config(
        **GROUPED, layer_types=["conv", "full_attention", "conv"], conv_L_cache=3
    ),
    "mistral, all layers sliding": lambda: MistralConfig(**GROUPED, sliding_window=8),
    "gemma3, some layers sliding": lambda: Gemma3TextConfig(
        **GROUPED,
        head_dim=8,
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    ),
}
