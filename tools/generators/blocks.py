"""Hidden states of a causal language model, read off its blocks; blocks after the deepest one are not run."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import torch


class _Deep(Exception):
    """The deepest block asked for has run; carried out of the forward pass by its hook."""


def final_states(base: Any, layers: Sequence[int], run: Callable[[], Any]) -> torch.Tensor:
    """The last column's states after each of `layers`; shape (layers, rows, width), float32.

    `run` calls `base`, the model without its head, and gives what it returned. Layer 0 is what the first
    block reads; the last layer is what the model returns, after its final norm.
    """
    blocks = _blocks(base)
    found: dict[int, torch.Tensor] = {}

    def before(_: Any, args: Any, kwargs: Any) -> None:
        found[0] = (args[0] if args else kwargs["hidden_states"])[:, -1]
        if max(layers) == 0:
            raise _Deep

    def after(layer: int) -> Callable[[Any, Any, Any], None]:
        def note(_: Any, __: Any, output: Any) -> None:
            found[layer] = (output[0] if isinstance(output, tuple) else output)[:, -1]
            if layer == max(layers):
                raise _Deep

        return note

    with ExitStack() as hooks:
        hooks.enter_context(blocks[0].register_forward_pre_hook(before, with_kwargs=True))
        for layer in set(layers) - {0, len(blocks)}:
            hooks.enter_context(blocks[layer - 1].register_forward_hook(after(layer)))
        with suppress(_Deep):
            found[len(blocks)] = run().last_hidden_state[:, -1]
    return torch.stack([found[layer].float() for layer in layers])


def _blocks(base: Any) -> Any:
    """The list of transformer blocks: the one list of modules that is as long as the model is deep."""
    depth = base.config.get_text_config().num_hidden_layers
    lists = (module for module in base.modules() if isinstance(module, torch.nn.ModuleList))
    return next(modules for modules in lists if len(modules) == depth)
