"""Bringing a causal language model into memory: which folder, device, number type and threads."""

import inspect
from dataclasses import dataclass
from typing import Any, Literal

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from ..errors import InputError
from ..models.compute import Device, resolve_device
from ..models.fingerprint import fingerprint
from ..models.quiet import quiet
from ..models.resolve import resolve

Dtype = Literal["auto", "float32", "bfloat16", "float16"]

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model with its tokenizer, ready to run. `end_ids` end a sequence."""

    name: str
    model: Any
    tokenizer: Any
    fingerprint: str
    context_tokens: int
    vocabulary: int
    end_ids: frozenset[int]


def load_model(name: str, device: Device, dtype: Dtype) -> LoadedModel:
    """Load `name`: a catalogue name, a folder, a GGUF file or a hub name.

    Raises ModelMissing, InputError for a folder that is no causal language model or one without a cache,
    SettingsError for a device that is not there.
    """
    folder = resolve(name)
    where = resolve_device(device)
    numbers = _DTYPES.get(dtype) or (torch.bfloat16 if where == "cuda" else torch.float32)
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=numbers, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InputError(f"{folder} cannot be loaded as a causal language model: {reason}") from error
    if not {"cache", "cache_params", "past_key_values"} & set(inspect.signature(model.forward).parameters):
        raise InputError(
            f"{folder} holds a {type(model).__name__}, which cannot read on after what it has read; set "
            "generator.model to a causal language model with a cache of keys and values"
        )
    model.to(where).eval()
    config = model.config.get_text_config()
    return LoadedModel(
        name=name,
        model=model,
        tokenizer=tokenizer,
        fingerprint=fingerprint(folder),
        context_tokens=int(min(config.max_position_embeddings, tokenizer.model_max_length)),
        vocabulary=int(config.vocab_size),
        end_ids=_end_ids(model, tokenizer),
    )


def _end_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Every end-of-sequence id: a chat model may have several."""
    ids: set[int] = set()
    for source in (model.generation_config, model.config, tokenizer):
        value = getattr(source, "eos_token_id", None)
        ids.update(value if isinstance(value, list) else [] if value is None else [value])
    return frozenset(ids)
