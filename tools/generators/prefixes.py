"""Prompts that begin alike are computed once: the keys and values of recent prompts.

The context block stands first in the prompt of RAG generation and in two of TrustMargin's three views, so
whichever comes first pays for it, and the others compute their suffixes only.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from .planning import common_prefix

Layers = tuple[tuple[torch.Tensor, torch.Tensor], ...]
"""Keys and values of every layer, each of shape (1, heads, tokens, width)."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """Keys and values of `ids`, the first tokens of some prompt."""

    ids: tuple[int, ...]
    layers: Layers

    @property
    def length(self) -> int:
        """Number of tokens."""
        return len(self.ids)


class PrefixStore:
    """The prompts used last, at most `capacity` tokens of them. Not safe across threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[int, ...], Layers] = OrderedDict()

    def find(self, ids: Sequence[int]) -> Prefix | None:
        """The longest known beginning of `ids`, None if there is none."""
        best, length = None, 0
        for known in self._kept:
            shared = common_prefix(known, ids)
            if shared and shared >= length:  # of equals the one used last: others are not used by this
                best, length = known, shared
        if best is None:
            return None
        self._kept.move_to_end(best)
        layers = tuple((keys[:, :, :length], values[:, :, :length]) for keys, values in self._kept[best])
        return Prefix(best[:length], layers)

    def keep(self, ids: Sequence[int], layers: Layers) -> None:
        """Remember a prompt; the ones not used for longest make room. One over the capacity is not kept."""
        if len(ids) > self._capacity:
            return
        key = tuple(ids)
        for known in [known for known in self._kept if common_prefix(known, key) == len(known)]:
            del self._kept[known]  # the new one begins with it
        self._kept[key] = layers
        while sum(map(len, self._kept)) > self._capacity:
            self._kept.popitem(last=False)


def joined(prompts: Sequence[Layers]) -> Layers:
    """Keys and values of several prompts, one after the other; () for none."""
    if len(prompts) < 2:
        return prompts[0] if prompts else ()
    return tuple(
        (torch.cat([keys for keys, _ in layer], dim=2), torch.cat([values for _, values in layer], dim=2))
        for layer in zip(*prompts, strict=True)
    )
