"""From token states to one vector: what a sentence-transformers folder has after its transformer.

    modules.json            the modules in order: Transformer, Pooling, Dense, LayerNorm, Normalize, Dropout
    1_Pooling/config.json   which poolings; several stand side by side in the vector
    2_Dense/                config.json and the weights of a linear layer with its activation

A folder without them pools by mean.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import load_file
from transformers import PretrainedConfig

from ..errors import CapabilityError

# The flags of a Pooling, in the order in which sentence-transformers joins them, and their newer names.
_FLAGS: Final = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_ACTIVATIONS: Final = ("Identity", "Tanh", "ReLU", "GELU", "SiLU", "Sigmoid", "ELU", "LeakyReLU")


def is_classifier(config: PretrainedConfig) -> bool:
    """Whether a model was saved as a sequence classifier, as cross-encoders are."""
    return any(name.endswith("ForSequenceClassification") for name in config.architectures or ())


def transformer_of(folder: Path) -> Path:
    """The folder of the transformer. Raises CapabilityError where there is none."""
    modules = _read(folder / "modules.json", default=[])
    if not modules:
        return folder
    if modules[0]["type"].rpartition(".")[2] != "Transformer":
        raise CapabilityError(f"{folder.name} begins with {modules[0]['type']}, which is no transformer")
    return folder / str(modules[0]["path"])


def load_head(folder: Path, width: int) -> "SentenceHead":
    """The head over states of `width`.

    Raises CapabilityError for a module or a pooling that is not known, naming it.
    """
    modules = _read(folder / "modules.json", default=[])
    poolings: tuple[str, ...] = ("mean",)
    if not modules and (folder / "1_Pooling").is_dir():
        poolings = _poolings(folder, folder / "1_Pooling")
    layers: list[torch.nn.Module] = []
    for module in modules[1:]:
        kind, place = module["type"].rpartition(".")[2], folder / module["path"]
        if kind == "Pooling":
            poolings = _poolings(folder, place)
        elif kind in _LAYERS:
            layers.append(_LAYERS[kind](place))
        elif kind != "Dropout":  # which does nothing here
            raise CapabilityError(f"{folder.name} has a layer {module['type']}; choose an encoder without")
    return SentenceHead(poolings, layers, width)


class SentenceHead(torch.nn.Module):
    """Poolings side by side, then layers. `width` is that of the vectors that come out."""

    def __init__(self, poolings: tuple[str, ...], layers: list[torch.nn.Module], width: int) -> None:
        super().__init__()
        self._poolings = poolings
        self.layers = torch.nn.Sequential(*layers)
        linear = [each for each in self.layers.modules() if isinstance(each, torch.nn.Linear)]
        self.width = linear[-1].out_features if linear else width * len(poolings)

    @property
    def plain(self) -> bool:
        """Whether it is the mean and nothing else, up to the vector's length."""
        return self._poolings == ("mean",) and not list(self.parameters())

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Of states (texts, tokens, hidden) and the mask of attention (texts, tokens): (texts, width)."""
        pooled = torch.cat([_POOLED[name](states, mask) for name in self._poolings], dim=-1)
        vectors: torch.Tensor = self.layers(pooled)
        return vectors

    def digest_parts(self) -> list[bytes]:
        """What tells it from another head, to be hashed."""
        weights = (t.detach().cpu().contiguous().numpy().tobytes() for t in self.state_dict().values())
        return [repr((self._poolings, str(self.layers))).encode(), *weights]


@dataclass(frozen=True, slots=True)
class _Weighted:
    """The sum of states by weights of (mask, position), over the sum of weights to a power."""

    weigh: Callable[[torch.Tensor], torch.Tensor]
    power: float = 1.0

    def __call__(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        weights = self.weigh(mask.to(states.dtype)).unsqueeze(-1)
        total: torch.Tensor = (states * weights).sum(dim=1) / weights.sum(dim=1) ** self.power
        return total


def _at(states: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return states[torch.arange(len(states), device=states.device), places]


def _last(mask: torch.Tensor) -> torch.Tensor:
    return mask.shape[1] - 1 - mask.flip(1).argmax(dim=1)


_POOLED: Final[Mapping[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]] = {
    "cls": lambda states, mask: _at(states, mask.argmax(dim=1)),
    "lasttoken": lambda states, mask: _at(states, _last(mask)),
    "max": lambda states, mask: states.masked_fill(mask.unsqueeze(-1) == 0, -1e9).amax(dim=1),
    "mean": _Weighted(lambda mask: mask),
    "mean_sqrt_len_tokens": _Weighted(lambda mask: mask, 0.5),
    "weightedmean": _Weighted(lambda mask: mask * mask.cumsum(dim=1)),
}


def _poolings(folder: Path, place: Path) -> tuple[str, ...]:
    config = _read(place / "config.json", default={})
    named = config.get("pooling_mode")
    if named is None:
        named = [name for flag, name in _FLAGS.items() if config.get(flag)] or "mean"
    names = (named,) if isinstance(named, str) else tuple(named)
    unknown = next((name for name in names if name not in _POOLED), None)
    if unknown or config.get("include_prompt") is False:
        how = f"by {unknown}" if unknown else "without its prompt"
        raise CapabilityError(f"{folder.name} pools {how}; choose an encoder that pools otherwise")
    return names


def _dense(place: Path) -> torch.nn.Module:
    config = _read(place / "config.json", default={})
    activation = str(config.get("activation_function", "Tanh")).rpartition(".")[2]
    reads = config.get("module_input_name", "sentence_embedding")
    if activation not in _ACTIVATIONS or config.get("use_residual") or reads != "sentence_embedding":
        raise CapabilityError(f"{place} is a Dense layer of an unknown kind; choose another encoder")
    linear = torch.nn.Linear(config["in_features"], config["out_features"], config.get("bias", True))
    _fill(linear, place, "linear.")
    return torch.nn.Sequential(linear, getattr(torch.nn, activation)())


def _layer_norm(place: Path) -> torch.nn.Module:
    norm = torch.nn.LayerNorm(_read(place / "config.json", default={})["dimension"])
    _fill(norm, place, "norm.")
    return norm


class _Normalize(torch.nn.Module):
    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(vectors, dim=-1)


_LAYERS: Final[Mapping[str, Callable[[Path], torch.nn.Module]]] = {
    "Dense": _dense,
    "LayerNorm": _layer_norm,
    "Normalize": lambda _: _Normalize(),
}


def _fill(layer: torch.nn.Module, place: Path, prefix: str) -> None:
    """Give a layer the weights of its folder."""
    packed = place / "model.safetensors"
    if packed.is_file():
        weights = load_file(packed)
    else:
        weights = torch.load(place / "pytorch_model.bin", map_location="cpu", weights_only=True)
    layer.load_state_dict({name.removeprefix(prefix): value for name, value in weights.items()})


def _read(file: Path, *, default: Any) -> Any:
    return json.loads(file.read_text("utf-8")) if file.is_file() else default
