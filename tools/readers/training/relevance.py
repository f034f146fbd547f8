"""Training the reranker: some part of a question finds the passage that it needs among all of a batch."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from ...rerankers.biencoder import BiEncoderReranker
from ...rerankers.projected import Projection
from ..lora import Tensors

TEMPERATURE = 0.05


@dataclass(frozen=True, slots=True)
class RelevanceItem:
    """A question with one passage that it needs and at least one that it does not.

    `parts` are what the reranker is asked about, the question's windows.
    """

    question: str
    parts: tuple[str, ...]
    needed: str
    others: tuple[str, ...]


class RelevanceTask:
    """Softmax cross-entropy over the passages of a batch, scored by log-sum-exp over a question's parts.

    The encoder is frozen: a text is encoded once, when a batch first holds it.
    """

    def __init__(self, base: str, items: Sequence[RelevanceItem], device: str, dtype: torch.dtype) -> None:
        self._items = items
        self._device = device
        self._encoder = BiEncoderReranker.load(
            base, device="cuda" if device.startswith("cuda") else "cpu", dtype=dtype
        )
        self.module = Projection(self._encoder.width).to(device)
        self._needed: dict[str, set[str]] = defaultdict(set)
        for item in items:
            self._needed[item.question].add(item.needed)
        self._known: dict[str, torch.Tensor] = {}

    def __len__(self) -> int:
        return len(self._items)

    def length(self, item: int) -> int:  # noqa: ARG002  no item is padded to another, a batch is best mixed
        """The same for all."""
        return 1

    def adapters(self) -> Tensors:
        """None: the encoder stays as it is."""
        return {}

    def head(self) -> Tensors:
        """The projection."""
        return {name: parameter.detach() for name, parameter in self.module.named_parameters()}

    def loss(self, items: Sequence[int]) -> torch.Tensor:
        """The mean over items of -log p(needed)."""
        chosen = [self._items[place] for place in items]
        passages = list(dict.fromkeys(text for item in chosen for text in (item.needed, *item.others)))
        parts = self._projected([part for item in chosen for part in item.parts])
        scores = parts @ self._projected(passages).T / TEMPERATURE
        by_item = torch.split(scores, [len(item.parts) for item in chosen])
        logits = torch.stack([own.logsumexp(dim=0) for own in by_item])
        # What a question needs as well is no wrong answer to it.
        also = [[p in self._needed[i.question] and p != i.needed for p in passages] for i in chosen]
        logits = logits.masked_fill(torch.tensor(also, device=logits.device), float("-inf"))
        target = torch.tensor([passages.index(item.needed) for item in chosen], device=logits.device)
        return cross_entropy(logits, target)

    def _projected(self, texts: Sequence[str]) -> torch.Tensor:
        rows: torch.Tensor = self.module(torch.stack([self._vector(text) for text in texts]).to(self._device))
        return rows

    def _vector(self, text: str) -> torch.Tensor:
        if text not in self._known:
            # Alone: other neighbours in a batch, after a run was taken up again, would round it otherwise.
            # In training a text is read in its first window: few are longer.
            self._known[text] = torch.from_numpy(self._encoder.embed([text])[0][0].copy())
        return self._known[text]
