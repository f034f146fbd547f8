"""Low-rank adapters (Hu et al., 2021): W + B·A in place of W, where only A and B are trained."""

import re
from collections.abc import Iterator, Mapping

import torch
from torch import nn

from ..errors import InputError

RANK = 16
SCALE = 2.0
_LAYER = re.compile(r"\blayers?\.(\d+)\.")
Tensors = dict[str, torch.Tensor]


class LowRank(nn.Module):
    """A frozen linear layer plus `SCALE` · B·A of rank `rank`. B starts at 0, and so does the change."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.empty(rank, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.normal_(self.down, std=base.in_features**-0.5)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Shape (..., in) to (..., out)."""
        change = (SCALE * (states @ self.down.T)) @ self.up.T
        changed: torch.Tensor = self.base(states) + change
        return changed


def adapt(encoder: nn.Module, rank: int = RANK) -> None:
    """Freeze `encoder` and put adapters on its upper layers.

    The lowest third stays as it is, and so do layers that widen: they cost most and gain least, and without
    adapters no gradient flows through the lowest layers at all. Raises InputError for an encoder whose layers
    are not told apart by a number in their names, as are ALBERT's, which all share one.
    """
    for parameter in encoder.parameters():
        parameter.requires_grad_(False)
    chosen = list(_linears(encoder))
    if not chosen:
        raise InputError(f"{type(encoder).__name__} has no numbered layers to adapt; train another encoder")
    for name, linear in chosen:
        owner, _, attribute = name.rpartition(".")
        setattr(encoder.get_submodule(owner), attribute, LowRank(linear, rank))


def _linears(encoder: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    found = {
        name: (int(match.group(1)), module)
        for name, module in encoder.named_modules()
        if isinstance(module, nn.Linear) and (match := _LAYER.search(name))
    }
    depth = 1 + max((layer for layer, _ in found.values()), default=0)
    for name, (layer, module) in found.items():
        if 3 * layer >= depth and module.out_features <= module.in_features:
            yield name, module


def adapters(encoder: nn.Module) -> Tensors:
    """The trained matrices, `NAME.down` (rank, in) and `NAME.up` (out, rank), the scale within `up`."""
    found: Tensors = {}
    for name, module in encoder.named_modules():
        if isinstance(module, LowRank):
            found[f"{name}.down"] = module.down.detach()
            found[f"{name}.up"] = SCALE * module.up.detach()
    return found


def merge(encoder: nn.Module, tensors: Mapping[str, torch.Tensor]) -> None:
    """Add B·A to the weights of a plain encoder: reading costs no more than without adapters.

    Raises AttributeError or RuntimeError where a matrix has no layer or another shape.
    """
    for key, down in tensors.items():
        name, _, part = key.rpartition(".")
        if part == "down":
            weight = encoder.get_submodule(name).get_parameter("weight")
            with torch.no_grad():
                weight.add_((tensors[f"{name}.up"].float() @ down.float()).to(weight.dtype))
