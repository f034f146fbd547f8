"""GGUF files, converted once into folders that transformers loads ten times faster.

The folder is named after the file's SHA-256, so a replaced file is converted anew, and the dequantised
float32 weights give the very logits of the GGUF file.
"""

from pathlib import Path
from typing import Any

import torch
from gguf import GGUFReader
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer

from ..errors import InputError, SufficitError
from .cache import cache_dir, new_folder
from .fingerprint import FINGERPRINT_FILE, remembered_sha256
from .quiet import quiet
from .store import Progress

CONVERSION = 1
"""Raised whenever the same GGUF file would be converted into something else."""

_QUANTIZER_ATTRIBUTES = ("hf_quantizer", "quantization_method")

_DIGIT_SPLITTING = frozenset({"smollm", "starcoder", "refact", "command-r"})
"""Pre-tokenizers (`tokenizer.ggml.pre`) that part digits before byte level, which transformers leaves out."""


def convert(file: Path, progress: Progress = lambda _: None) -> Path:
    """The model folder made from a GGUF file: safetensors, configuration, tokenizer, fingerprint.

    Raises InputError when the file is no GGUF file that transformers can read, StorageError when the disk
    refuses.
    """
    digest = remembered_sha256(file)
    final = cache_dir() / "converted" / f"{file.stem}-{digest[:16]}-{CONVERSION}"
    with new_folder(final) as scratch:
        if scratch is not None:
            progress(f"{file.stem}: converting, once")
            try:
                _convert(file, scratch)
            except SufficitError:
                raise
            except Exception as error:  # transformers and gguf raise anything on a damaged file
                _raise_if_disk(error)
                raise InputError(f"{file} cannot be read as a GGUF model: {_first_line(error)}") from error
            (scratch / FINGERPRINT_FILE).write_text(f"gguf-{digest}-{CONVERSION}\n")
    return final


def _convert(file: Path, target: Path) -> None:
    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
        restore_digit_splitting(tokenizer, _pre_tokenizer(file))
        tokenizer.save_pretrained(target)
        load = AutoModelForCausalLM.from_pretrained
        model = load(file.parent, gguf_file=file.name, dtype=torch.float32)
        take_quantizer_off(model)
        model.save_pretrained(target, max_shard_size="1TB")


def _pre_tokenizer(file: Path) -> str:
    field = GGUFReader(file).fields.get("tokenizer.ggml.pre")
    return "" if field is None else str(field.contents())


def restore_digit_splitting(tokenizer: Any, pre_tokenizer: str) -> None:
    """Part digits one by one before byte level, where the GGUF file's pre-tokenizer does so."""
    if pre_tokenizer in _DIGIT_SPLITTING:
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True),
            ]
        )


def take_quantizer_off(model: Any) -> None:
    """Make an already dequantised GGUF model an ordinary one: `save_pretrained` refuses it otherwise."""
    for attribute in _QUANTIZER_ATTRIBUTES:
        if hasattr(model, attribute):
            delattr(model, attribute)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.is_quantized = False


def _raise_if_disk(error: Exception) -> None:
    """Let the file system's own refusals pass, for `new_folder` to name them."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
