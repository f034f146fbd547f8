"""Bringing a causal language model into memory: which folder, device, number type and threads."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from ..errors import InputError, SettingsError
from ..models.fingerprint import fingerprint
from ..models.quiet import quiet
from ..models.resolve import resolve

Device = Literal["auto", "cpu", "cuda"]
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

    Raises ModelMissing, InputError for a folder that is no causal language model, SettingsError for a device
    that is not there.
    """
    folder = resolve(name)
    where = _device(device)
    numbers = _DTYPES.get(dtype) or (torch.bfloat16 if where == "cuda" else torch.float32)
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=numbers, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InputError(f"{folder} cannot be loaded as a causal language model: {reason}") from error
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


def available_threads() -> int:
    """Threads this process may use: OMP_NUM_THREADS if set, else its cores, or the cgroup's share of them."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else (os.cpu_count() or 1)
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError):  # no cgroup, or no limit in it ("max")
        return cores


def _device(device: Device) -> str:
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise SettingsError("device = cuda, but torch sees no GPU here; set it to cpu or auto")
    return device


def _end_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Every end-of-sequence id: a chat model may have several."""
    ids: set[int] = set()
    for source in (model.generation_config, model.config, tokenizer):
        value = getattr(source, "eos_token_id", None)
        ids.update(value if isinstance(value, list) else [] if value is None else [value])
    return frozenset(ids)
