"""A reader under training: what the loop needs of it, and what all kinds share."""

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import nn

from ...models.quiet import quiet
from ...models.resolve import resolve
from ...models.tokenizers import load_tokenizer
from ..lora import Tensors, adapt
from ..windows import Unit, Window, Windower

FORWARD = 16
"""Windows that go through the encoder at a time: batches of one length need little padding."""


class Task(Protocol):
    """A reader under training."""

    @property
    def module(self) -> nn.Module:
        """All of it; the parameters that ask for gradients are trained."""
        ...

    def __len__(self) -> int:
        """How many items there are."""
        ...

    def length(self, item: int) -> int:
        """Tokens of an item: the items of a batch should be alike."""
        ...

    def loss(self, items: Sequence[int]) -> torch.Tensor:
        """The mean loss over these items."""
        ...

    def adapters(self) -> Tensors:
        """The trained matrices within the encoder, as `lora.adapters` has them."""
        ...

    def head(self) -> Tensors:
        """The trained tensors outside the adapters, by the names that the reader gives them."""
        ...


class EncodedItems:
    """Items as windows, cut once. `pad` is the id that fills a batch up."""

    def __init__(self, base: str, units: Sequence[Sequence[Unit]]) -> None:
        tokenizer = load_tokenizer(resolve(base))
        self.pad = int(tokenizer.pad_token_id or 0)
        windower = Windower(tokenizer)
        # In training a passage is read in its first window: few are longer, and a batch stays bounded.
        self._windows: list[list[Window]] = []
        for group in units:
            first: dict[int, Window] = {}
            for window in windower.windows(group):
                first.setdefault(window.owner, window)
            self._windows.append(list(first.values()))

    def __len__(self) -> int:
        return len(self._windows)

    def of(self, item: int) -> list[Window]:
        """One window for each unit of the item."""
        return self._windows[item]

    def chosen(self, items: Sequence[int]) -> list[Window]:
        """The windows of all these items, in their order."""
        return [window for item in items for window in self._windows[item]]

    def length(self, item: int) -> int:
        """Tokens of all units of the item."""
        return sum(len(window.ids) for window in self._windows[item])


def load_trainable(base: str, auto: Any, device: str, dtype: torch.dtype) -> Any:
    """A model of the transformers class `auto`: `base` frozen in `dtype`, its adapters in float32."""
    with quiet():
        # Plain attention: its backward pass is several times faster on CPUs than the fused one's.
        model = auto.from_pretrained(resolve(base), dtype=torch.float32, attn_implementation="eager")
    encoder: nn.Module = model.base_model
    adapt(encoder)
    for parameter in encoder.parameters():
        if not parameter.requires_grad:
            parameter.data = parameter.data.to(dtype)
    return model.to(device).eval()


def autocast(device: str, dtype: torch.dtype) -> torch.autocast:
    """Mixed precision where the frozen part is in bfloat16."""
    return torch.autocast(device, torch.bfloat16, enabled=dtype is torch.bfloat16)


def trained_outside(model: nn.Module, encoder: nn.Module) -> Tensors:
    """Trained tensors that are no adapters, by their name in `model`."""
    low_rank = {id(p) for name, p in encoder.named_parameters() if name.endswith((".down", ".up"))}
    return {
        name: parameter.detach()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and id(parameter) not in low_rank
    }
