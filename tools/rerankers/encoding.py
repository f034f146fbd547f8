"""How texts become padded batches of token ids: windows of what the model can read, sorted by length."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import PretrainedConfig, PreTrainedTokenizerBase

Encodings = Mapping[str, list[Any]]


def longest_input(folder: Path, tokenizer: PreTrainedTokenizerBase, config: PretrainedConfig) -> int:
    """Most tokens of one input: the least of what the tokenizer, the positions and the training allow."""
    limits = [int(tokenizer.model_max_length), int(getattr(config, "max_position_embeddings", 512))]
    # Sentence-transformer folders name the length that the model was trained with.
    trained = folder / "sentence_bert_config.json"
    if trained.is_file():
        limits.append(int(json.loads(trained.read_text("utf-8")).get("max_seq_length") or limits[0]))
    return min(limits)


def batches(encodings: Encodings, size: int) -> Iterator[list[int]]:
    """Indices of the encodings, longest first, at most `size` at a time: neighbours need little padding."""
    lengths = [len(ids) for ids in encodings["input_ids"]]
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    for start in range(0, len(order), size):
        yield order[start : start + size]


def pad(
    tokenizer: PreTrainedTokenizerBase, encodings: Encodings, indices: Sequence[int], device: str
) -> dict[str, torch.Tensor]:
    """The model's input tensors for some of the encodings, padded to the longest of them."""
    names = [name for name in tokenizer.model_input_names if name in encodings]
    chosen = {name: [encodings[name][index] for index in indices] for name in names}
    return dict(tokenizer.pad(chosen, return_tensors="pt").to(device))
