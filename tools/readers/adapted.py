"""Trained readers as small folders: adapters and heads over an encoder that is installed apart.

`reader.json` names the encoder with its fingerprint, the kind of reader, and where the weights come from.
`reader.safetensors` holds low-rank adapters (`encoder.…`) and the whole head (`head.…`) in half precision.
A plain transformers folder serves as well: then there is nothing to add.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..errors import ArtifactError
from ..models.cache import storage_errors
from ..models.fingerprint import fingerprint
from ..models.quiet import quiet
from ..models.resolve import resolve
from ..models.tokenizers import load_tokenizer
from ..rerankers.encoding import longest_input
from .lora import Tensors, merge
from .windows import MAX_TOKENS

JSON_FILE = "reader.json"
WEIGHTS_FILE = "reader.safetensors"
PACKAGED = Path(__file__).parent / "packaged"
"""Readers that ship with the package, one folder each; their folder names serve as model names."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What `reader.json` says: `kind` of reader, the encoder under it, and its provenance as plain JSON."""

    kind: str
    encoder: str
    encoder_fingerprint: str
    weights_sha256: str
    max_tokens: int
    provenance: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training made, but for the weights."""

    kind: str
    encoder: str
    provenance: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Weights:
    """A reader folder, read and checked.

    `base` is the encoder's folder, `tensors` are as in the file, `fingerprint` covers encoder and weights.
    """

    reader: Reader
    base: Path
    tensors: Tensors
    fingerprint: str

    def head(self) -> Tensors:
        """The head's own tensors, float32."""
        return self._part("head.", torch.float32)

    def apply(self, encoder: nn.Module) -> None:
        """Add the adapters to a plain encoder. Raises ArtifactError where they do not fit it."""
        try:
            merge(encoder, self._part("encoder.", torch.float32))
        except (AttributeError, RuntimeError, KeyError) as error:
            raise ArtifactError(
                f"the {self.reader.kind} reader's adapters do not fit {self.reader.encoder}: {error}"
            ) from error

    def _part(self, prefix: str, dtype: torch.dtype) -> Tensors:
        return {
            name.removeprefix(prefix): tensor.to(dtype)
            for name, tensor in self.tensors.items()
            if name.startswith(prefix)
        }


def find(model: str) -> Path | None:
    """The folder of a trained reader, by a packaged one's name or its path; None for any other model."""
    for folder in (PACKAGED / model, Path(model).expanduser()):
        if (folder / JSON_FILE).is_file():
            return folder
    return None


def provenance(model: str) -> Mapping[str, Any]:
    """What a trained reader says of its training; empty for any other model. Raises ArtifactError."""
    folder = find(model)
    return _header(folder / JSON_FILE).provenance if folder else {}


def read(folder: Path, kind: str) -> Weights:
    """Read a trained reader of `kind` and check it against the encoder on this machine.

    Raises ArtifactError naming what is damaged or does not fit, ModelMissing where the encoder is not here.
    """
    reader = _header(folder / JSON_FILE)
    if reader.kind != kind:
        raise ArtifactError(f"{folder} holds a {reader.kind} reader, not a {kind} reader")
    try:
        weights = (folder / WEIGHTS_FILE).read_bytes()
        digest = hashlib.sha256(weights).hexdigest()
        if digest != reader.weights_sha256:
            raise ArtifactError(
                f"{folder / WEIGHTS_FILE} is damaged or cut short; train it again or reinstall"
            )
        tensors = load_tensors(weights)
    except (OSError, SafetensorError) as error:
        raise ArtifactError(f"{folder / WEIGHTS_FILE} cannot be read: {error}; train it again") from error
    base = resolve(reader.encoder)
    found = fingerprint(base)
    if found != reader.encoder_fingerprint:
        raise ArtifactError(
            f"{folder} was trained over another {reader.encoder}, {reader.encoder_fingerprint[:16]}…, not "
            f"{found[:16]}….\nInstall that model, or train again with: sufficit train-reader {kind}"
        )
    return Weights(reader, base, tensors, hashlib.sha256(f"{found}\n{digest}\n".encode()).hexdigest())


def _header(file: Path) -> Reader:
    try:
        return Reader(**json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ArtifactError(f"{file} is damaged or cut short; train it again or reinstall") from error


def load_adapted(
    model: str, kind: str, auto: Any, labels: int
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, str, int]:
    """A transformers model of the class `auto`, float32, its tokenizer, fingerprint, and longest input.

    `model` is a packaged reader's name, a trained reader's folder, or any model that `auto` loads by itself;
    `labels` is how many outputs a trained reader of this kind has. Raises as `read`.
    """
    folder = find(model)
    with quiet():
        if folder is None:
            plain = resolve(model)
            loaded = auto.from_pretrained(plain, dtype=torch.float32)
            tokenizer = load_tokenizer(plain)
            return loaded, tokenizer, fingerprint(plain), longest_input(plain, tokenizer, loaded.config)
        weights = read(folder, kind)
        loaded = auto.from_pretrained(weights.base, dtype=torch.float32, num_labels=labels)
    weights.apply(loaded.base_model)
    put_head(loaded, weights)
    return loaded, load_tokenizer(weights.base), weights.fingerprint, weights.reader.max_tokens


def put_head(module: nn.Module, weights: Weights) -> None:
    """Put the head's tensors in their places. Raises ArtifactError where one has none, or another shape."""
    try:
        with torch.no_grad():
            for name, tensor in weights.head().items():
                module.get_parameter(name).copy_(tensor)
    except (AttributeError, RuntimeError) as error:
        raise ArtifactError(f"the {weights.reader.kind} reader's head does not fit: {error}") from error


def save(folder: Path, low_rank: Tensors, head: Tensors, trained: Trained) -> None:
    """Write a trained reader, adapters and head, whole or not at all; what `folder` held is replaced.

    Raises StorageError.
    """
    named = {f"encoder.{name}": tensor for name, tensor in low_rank.items()}
    named |= {f"head.{name}": tensor for name, tensor in head.items()}
    half = {name: tensor.detach().to("cpu", torch.float16).contiguous() for name, tensor in named.items()}
    weights = save_tensors(half)
    reader = Reader(
        kind=trained.kind,
        encoder=trained.encoder,
        encoder_fingerprint=fingerprint(resolve(trained.encoder)),
        weights_sha256=hashlib.sha256(weights).hexdigest(),
        max_tokens=MAX_TOKENS,
        provenance=trained.provenance,
    )
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Weights first: a reader.json whose hash does not match them is refused, never read.
        for name, content in (
            (WEIGHTS_FILE, weights),
            (JSON_FILE, (json.dumps(asdict(reader), indent=2, ensure_ascii=False) + "\n").encode()),
        ):
            scratch = folder / f".{name}.{os.getpid()}.partial"
            scratch.write_bytes(content)
            scratch.replace(folder / name)
