"""Forward passes of a causal language model over rows of different length, with their keys and values.

Rows are padded on the left, so that every row ends in the last column. Padding is known by the attention mask
alone, never by token id: the padding token of many models is their end-of-sequence token.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, LinearAttentionLayer

from ..errors import ModelOutputError
from .blocks import final_states
from .packing import WORTHWHILE_TOKENS, Packing, packed_together, packing_with_first
from .planning import common_prefix
from .prefixes import Layers, PrefixStore, joined

KEPT_TOKENS = 64
"""Prompts shorter than this are not worth remembering."""

COUNTS_COLUMNS = ("gpt_neo", "mpt")
"""Models whose attention counts columns, padding included, though nothing in their cache says so: the one by
windows, the other by ALiBi over columns."""


@dataclass(slots=True)
class Context:
    """What a batch has read so far: keys and values, and a mask of shape (rows, columns), 1 = a token."""

    cache: Any
    mask: torch.Tensor

    def select(self, rows: Sequence[int]) -> None:
        """Go on with some of the rows only."""
        index = torch.tensor(rows, device=self.mask.device)
        self.cache.reorder_cache(index)  # batch_select_indices leaves the states of hybrid models out
        self.mask = self.mask[index]


class CausalModel:
    """The passes. All methods run on the generator's worker thread."""

    def __init__(self, model: Any, prefix_tokens: int) -> None:
        self.model = model
        self._device = model.device
        self._accepted = frozenset(inspect.signature(model.forward).parameters)
        self._store = PrefixStore(prefix_tokens)
        layers = DynamicCache(config=model.config).layers
        self._recurs = all(isinstance(layer, LinearAttentionLayer) for layer in layers) and not any(
            isinstance(layer, DynamicLayer) for layer in layers
        )
        # A window slides over columns, padding included: such a model's prefix must not be padded after.
        self.shares_prefixes = model.config.model_type not in COUNTS_COLUMNS and all(
            type(layer) is DynamicLayer for layer in layers
        )
        # Packed rows need a mask and positions of their own, which not every model and kernel takes; Falcon
        # with ALiBi reads positions off the mask.
        self._packs = (
            self.shares_prefixes
            and "position_ids" in self._accepted
            and not getattr(model.config, "alibi", False)
            and model.config._attn_implementation in ("sdpa", "eager")
        )

    def read(
        self, rows: Sequence[Sequence[int]], tails: Sequence[int], *, keep: bool
    ) -> tuple[Context, torch.Tensor]:
        """Read rows of ids from their beginning; a beginning that all rows share is computed once.

        `tails[i]` >= 1 is for how many last tokens of row i the logits are wanted. With `keep`, the rows are
        remembered for prompts to come. Returns the context and the logits of the last max(tails) columns,
        float32, shape (rows, max(tails), vocabulary).
        """
        context, read = self._shared(rows, tails)
        _copy(context, len(rows))
        logits = self.extend(context, [row[read:] for row in rows], max(tails))
        if keep and self.shares_prefixes:
            for index, row in enumerate(rows):
                self._remember(context, index, row)
        return context, logits

    def plain(self, row: Sequence[int]) -> torch.Tensor:
        """Logits of every token of a row in a pass that leaves mask and positions to the model, float32.

        Shape (tokens, vocabulary).
        """
        logits: torch.Tensor = self._call(
            self.model, input_ids=torch.tensor([list(row)], device=self._device), use_cache=False
        ).logits[0]
        return logits.float()

    def tails(self, rows: Sequence[Sequence[int]], tails: Sequence[int]) -> list[torch.Tensor]:
        """Logits of the last `tails[i]` >= 1 tokens of every row i; each (tails[i], vocabulary), float32."""
        packing = self._packing(rows, tails)
        if packing is None:
            context, read = self._shared(rows, tails)
            packing = self._packing(rows, tails) if read else None  # the common beginning is known by now
        if packing is not None:
            found = self._packed(packing)
        else:
            _copy(context, len(rows))
            found = list(self.extend(context, [row[read:] for row in rows], max(tails)))
        return [logits[-tail:] for logits, tail in zip(found, tails, strict=True)]

    def packing_with_first(self, rows: Sequence[Sequence[int]], tails: Sequence[int]) -> list[int]:
        """Indices of the rows of which `tails` reads all that is unread in one row, with row 0 among them."""
        return packing_with_first(rows, tails, self._store.find) if self._packs else []

    def _packing(self, rows: Sequence[Sequence[int]], tails: Sequence[int]) -> Packing | None:
        if len(rows) == 1 or not self._packs:
            return None
        return packed_together(rows, tails, self._store.find)

    def _packed(self, packing: Packing) -> list[torch.Tensor]:
        """Logits of every token of every rest."""
        context = self._context(joined([base.layers for base in packing.bases]))
        lengths = [len(rest) for rest in packing.rests]
        rows = torch.arange(len(lengths), device=self._device).repeat_interleave(
            torch.tensor(lengths, device=self._device)
        )
        place = torch.cat([torch.arange(length, device=self._device) for length in lengths])
        starts = [0, *accumulate(base.length for base in packing.bases)]
        first = torch.tensor([starts[owner] for owner in packing.owners], device=self._device)[rows, None]
        read = torch.tensor(packing.reads, device=self._device)[rows]
        columns = torch.arange(context.mask.shape[1], device=self._device)
        known = (columns >= first) & (columns < first + read[:, None])
        own = (rows[:, None] == rows) & (place[:, None] >= place)
        seen = torch.cat([known, own], dim=1)
        mask = torch.zeros(seen.shape, dtype=self.model.dtype, device=self._device)
        logits = self._call(
            self.model,
            input_ids=torch.tensor([[id_ for rest in packing.rests for id_ in rest]], device=self._device),
            attention_mask=mask.masked_fill(~seen, torch.finfo(mask.dtype).min)[None, None],
            position_ids=(place + read)[None],
            past_key_values=context.cache,
            use_cache=True,
        ).logits[0]
        return list(logits.float().split(lengths))

    def extend(self, context: Context, rows: Sequence[Sequence[int]], tail: int) -> torch.Tensor:
        """Read on: `rows[i]` after what row i has read. Logits as in `read`."""
        ids, mask = self._pad(rows)
        context.mask = torch.cat([context.mask, mask], dim=1)
        logits: torch.Tensor = self._call(
            self.model,
            input_ids=ids,
            attention_mask=mask if self._recurs else context.mask,  # a state needs no mask of what made it
            position_ids=_positions(context.mask)[:, -ids.shape[1] :],
            past_key_values=context.cache,
            use_cache=True,
            logits_to_keep=tail,
        ).logits[:, -tail:]
        return logits.float()

    def states(self, rows: Sequence[Sequence[int]], layers: Sequence[int]) -> torch.Tensor:
        """Hidden states of every row's last token after each of `layers`; (layers, rows, width), float32.

        Blocks after the deepest of them are not run.
        """
        ids, mask = self._pad(rows)
        base = self.model.base_model  # without the head: its logits are not wanted

        def run() -> Any:
            return self._call(
                base, input_ids=ids, attention_mask=mask, position_ids=_positions(mask), use_cache=False
            )

        states = final_states(base, layers, run)
        if not torch.isfinite(states).all():
            raise ModelOutputError("the model's hidden states are not finite; try dtype float32")
        return states

    def _shared(self, rows: Sequence[Sequence[int]], tails: Sequence[int]) -> tuple[Context, int]:
        """A context of one row that has read the rows' common beginning, and the length of that."""
        length = 0
        if self.shares_prefixes:
            length = min(
                min(common_prefix(rows[0], row), len(row) - tail)
                for row, tail in zip(rows, tails, strict=True)
            )
        known = self._store.find(rows[0][:length]) if length >= WORTHWHILE_TOKENS else None
        if known and known.length < WORTHWHILE_TOKENS:
            known = None  # tokens read after others need a mask, which costs more than a few of them save
        context = self._context(known.layers if known else ())
        read = known.length if known else 0
        if len(rows) > 1 and length - read >= WORTHWHILE_TOKENS:
            self.extend(context, [rows[0][read:length]], 1)
            self._remember(context, 0, rows[0][:length])
            read = length
        return context, read

    def _context(self, layers: Layers) -> Context:
        cache: Any = DynamicCache(config=self.model.config)
        for layer, (keys, values) in zip(cache.layers, layers, strict=bool(layers)):
            layer.lazy_initialization(keys, values)
            layer.keys, layer.values = keys, values  # reading on makes tensors of its own
        length = layers[0][0].shape[2] if layers else 0
        return Context(cache, torch.ones((1, length), dtype=torch.long, device=self._device))

    def _remember(self, context: Context, index: int, ids: Sequence[int]) -> None:
        if len(ids) < KEPT_TOKENS:
            return
        columns = context.mask[index].nonzero()[:, 0]
        row = slice(index, index + 1)
        # A view would keep the other rows' memory alive; where there are none, it saves a copy.
        alone = context.mask.shape == (1, len(columns))
        part = (row,) if alone else (row, slice(None), columns)
        self._store.keep(ids, tuple((layer.keys[part], layer.values[part]) for layer in context.cache.layers))

    def _pad(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        width = max(map(len, rows))
        ids = torch.tensor([[0] * (width - len(row)) + list(row) for row in rows], device=self._device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=self._device)
        return ids, mask

    def _call(self, module: Any, **inputs: Any) -> Any:
        # transformers 5.24 renames them all to cache; some models take no positions or cut no logits.
        for name in self._accepted & {"cache", "cache_params"}:
            if "past_key_values" in inputs:
                inputs[name] = inputs.pop("past_key_values")
        optional = {"position_ids", "logits_to_keep"} - self._accepted
        with torch.inference_mode():
            return module(**{name: value for name, value in inputs.items() if name not in optional})


def _copy(context: Context, rows: int) -> None:
    """Go on with `rows` rows that have read the same."""
    if rows > 1 and context.mask.shape[1]:
        context.cache.batch_repeat_interleave(rows)
    context.mask = context.mask.expand(rows, -1)


def _positions(mask: torch.Tensor) -> torch.Tensor:
    """Position of every token among its row's tokens; padding gets 0."""
    return (mask.cumsum(dim=1) - 1).clamp(min=0)
