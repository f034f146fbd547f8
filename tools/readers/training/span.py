"""Training the span reader: where the answer starts and ends, or the first token. (R Appendix E)"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import AutoModelForQuestionAnswering

from ..lora import Tensors, adapters
from ..windows import Unit, Window, tensors
from .task import EncodedItems, autocast, load_trainable, trained_outside


@dataclass(frozen=True, slots=True)
class SpanItem:
    """A question, a passage, and the character spans [start, end) that answer it; () for none."""

    unit: Unit
    spans: tuple[tuple[int, int], ...]


class SpanTask:
    """Cross-entropy of start and end over the tokens of the window."""

    def __init__(self, base: str, items: Sequence[SpanItem], device: str, dtype: torch.dtype) -> None:
        self._items = items
        self._data = EncodedItems(base, [[item.unit] for item in items])
        self._device = device
        self._dtype = dtype
        self.module = load_trainable(base, AutoModelForQuestionAnswering, device, dtype)
        self._encoder: nn.Module = self.module.base_model

    def __len__(self) -> int:
        return len(self._items)

    def length(self, item: int) -> int:
        """Tokens of the item."""
        return self._data.length(item)

    def adapters(self) -> Tensors:
        """Those of the encoder."""
        return adapters(self._encoder)

    def head(self) -> Tensors:
        """The layer that gives the logits."""
        return trained_outside(self.module, self._encoder)

    def loss(self, items: Sequence[int]) -> torch.Tensor:
        """The mean over items of the mean cross-entropy of start and end."""
        windows = self._data.chosen(items)
        inputs = tensors(windows, self._device, self._data.pad)
        with autocast(self._device, self._dtype):
            output = self.module(**inputs)
        places = [answer_places(w, self._items[i].spans) for w, i in zip(windows, items, strict=True)]
        gold = torch.tensor(places, device=self._device)
        absent = inputs["attention_mask"] == 0
        starts, ends = (
            cross_entropy(logits.float().masked_fill(absent, -1e4), gold[:, side])
            for side, logits in enumerate((output.start_logits, output.end_logits))
        )
        return (starts + ends) / 2


def answer_places(window: Window, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """First and last token of the first span that the window holds whole; (0, 0) where it holds none."""
    for start, end in spans:
        inside = [k for k, (low, high) in enumerate(window.offsets) if low < end and high > start]
        if inside and window.offsets[inside[0]][0] <= start and window.offsets[inside[-1]][1] >= end:
            return window.first + inside[0], window.first + inside[-1]
    return 0, 0
