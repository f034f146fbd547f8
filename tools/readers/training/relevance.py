"""Training the reranker: the needed passage above every other passage of the same question."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification

from ..lora import Tensors
from ..windows import batches, tensors
from .task import FORWARD, EncodedItems, autocast, load_trainable, trained_outside


@dataclass(frozen=True, slots=True)
class RelevanceItem:
    """A question with one passage that it needs and at least one that it does not."""

    question: str
    needed: str
    others: tuple[str, ...]


class RelevanceTask:
    """Softmax cross-entropy of one logit over the passages of an item."""

    def __init__(self, base: str, items: Sequence[RelevanceItem], device: str, dtype: torch.dtype) -> None:
        units = [[(i.question, i.needed), *((i.question, other) for other in i.others)] for i in items]
        self._data = EncodedItems(base, units)
        self._device = device
        self._dtype = dtype
        self.module = load_trainable(base, AutoModelForSequenceClassification, device, dtype, labels=1)
        self.encoder: nn.Module = self.module.base_model

    def __len__(self) -> int:
        return len(self._data)

    def length(self, item: int) -> int:
        """Tokens of the item's passages, each beside the question."""
        return self._data.length(item)

    def head(self) -> Tensors:
        """Pooler and classifier."""
        return trained_outside(self.module, self.encoder)

    def loss(self, items: Sequence[int]) -> torch.Tensor:
        """The mean over items of -log p(needed)."""
        windows = self._data.chosen(items)
        found, order = [], []
        for batch in batches(windows, FORWARD):
            inputs = tensors([windows[place] for place in batch], self._device, self._data.pad)
            with autocast(self._device, self._dtype):
                found.append(self.module(**inputs).logits[:, 0].float())
            order += batch
        logits = torch.cat(found)[torch.argsort(torch.tensor(order, device=self._device))]
        parts = torch.split(logits, [len(self._data.of(item)) for item in items])
        return torch.stack([-part.log_softmax(dim=0)[0] for part in parts]).mean()
