"""Training the joint reader: of two evidence sets for one group, which suffices?

Units, a question beside a passage, are read once, and many sets are made of them: a set more costs next to
nothing. Beside the pairwise loss each unit learns whether its question needs it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus
from transformers import AutoModel

from ..fusion import stack_sets
from ..joint import JointModel
from ..lora import Tensors, adapters
from ..windows import Unit, Window, batches, tensors
from .task import FORWARD, EncodedItems, autocast, load_trainable, trained_outside

NEED_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class JointItem:
    """Units, and the evidence sets that are made of them.

    `pairs` holds (sufficient set, insufficient set), each the places of its units. `needed[i]` says whether
    unit i holds something that its question needs.
    """

    units: tuple[Unit, ...]
    needed: tuple[bool, ...]
    pairs: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


class JointTask:
    """log(1 + exp(insufficient - sufficient)) over pairs, each item counting once."""

    def __init__(self, base: str, items: Sequence[JointItem], device: str, dtype: torch.dtype) -> None:
        self._items = items
        self._data = EncodedItems(base, [item.units for item in items])
        self._device = device
        self._dtype = dtype
        encoder = load_trainable(base, AutoModel, device, dtype)
        width = int(encoder.config.hidden_size)
        self._encoder: nn.Module = encoder
        self._model = JointModel(encoder, width).to(device)
        # Only training asks what a single unit is good for.
        self._need = nn.Linear(width, 1).to(device)
        self.module: nn.Module = nn.ModuleList([self._model, self._need])

    def __len__(self) -> int:
        return len(self._items)

    def length(self, item: int) -> int:
        """Tokens of all units of the item."""
        return self._data.length(item)

    def adapters(self) -> Tensors:
        """Those of the encoder."""
        return adapters(self._encoder)

    def head(self) -> Tensors:
        """Slots and fusion."""
        return trained_outside(self._model, self._encoder)

    def loss(self, items: Sequence[int]) -> torch.Tensor:
        """The pairwise loss, plus `NEED_WEIGHT` times the units' cross-entropy."""
        slots, needs = self._read(self._data.chosen(items))
        sets: list[list[int]] = []
        weights: list[float] = []
        needed: list[bool] = []
        start = 0
        for item in (self._items[place] for place in items):
            sets += [[start + place for place in chosen] for pair in item.pairs for chosen in pair]
            weights += [1 / len(item.pairs)] * len(item.pairs)
            needed += item.needed
            start += len(item.units)
        scores = self._model.fusion(*stack_sets(slots, sets)).reshape(-1, 2)
        weight = torch.tensor(weights, device=scores.device) / len(items)
        pairwise = (weight * softplus(scores[:, 1] - scores[:, 0])).sum()
        gold = torch.tensor(needed, device=needs.device, dtype=torch.float32)
        return pairwise + NEED_WEIGHT * binary_cross_entropy_with_logits(needs, gold)

    def _read(self, windows: Sequence[Window]) -> tuple[torch.Tensor, torch.Tensor]:
        """Slots of every window, and the logit of its being needed."""
        slots, needs, order = [], [], []
        for batch in batches(windows, FORWARD):
            inputs = tensors([windows[place] for place in batch], self._device, self._data.pad)
            with autocast(self._device, self._dtype):
                states = self._encoder(**inputs).last_hidden_state
            states = states.float()
            slots.append(self._model.slots(states, inputs["attention_mask"]))
            needs.append(self._need(states[:, 0])[:, 0])
            order += batch
        back = torch.argsort(torch.tensor(order, device=self._device))
        return torch.cat(slots)[back], torch.cat(needs)[back]
