"""Whether a model says the same of a row however the row is read: checked once, when it is loaded.

Some causal language models count padding as positions, others look ahead or cannot read on. What they say in
a batch would be wrong without a sign of it.
"""

import torch

from ..errors import InputError, ModelOutputError
from .forward import CausalModel

_LONG, _SHORT = 12, 5
"""Tokens of two rows that are read in one batch, the short one behind padding."""

_APART, _APART_HALF = 0.002, 0.05
"""How far two readings of the same row may lie apart in float32, and in half precision, in total variation:
rounding is far below.
"""


def check_agreement(causal: CausalModel, name: str, vocabulary: int) -> None:
    """Compare a row in a batch, and then read on, with the same row as the model reads it by itself.

    Raises InputError where the probabilities of the next token differ, or a pass fails.
    """
    ids = [(7 * n + 11) % vocabulary for n in range(_LONG + 1)]
    long, short, following = ids[:_LONG], ids[:_SHORT], ids[_SHORT]
    try:
        context, first = causal.read([long, short], [1, 1], keep=False)
        second = causal.extend(context, [[ids[_LONG]], [following]], 1)
        alone = causal.plain([*short, following])[-2:]
    # What a model that was not made for it raises here is up to its own code.
    except (RuntimeError, IndexError, TypeError, ValueError, AttributeError, NotImplementedError) as error:
        reason = (str(error).splitlines() or [""])[0][:200]
        raise InputError(f"{name} cannot be read in batches: {type(error).__name__}: {reason}") from error
    read = torch.stack([first[1, -1], second[1, -1]])
    if not (torch.isfinite(read).all() and torch.isfinite(alone).all()):
        raise ModelOutputError(f"the logits of {name} are not finite; try dtype float32")
    apart = 0.5 * (torch.softmax(read, -1) - torch.softmax(alone, -1)).abs().sum(-1).max()
    if float(apart) > (_APART if causal.model.dtype == torch.float32 else _APART_HALF):
        raise InputError(
            f"{name} says something else of a text in a batch than alone (total variation "
            f"{float(apart):.3f}): its answers would be wrong; set generator.model to a causal language "
            "model that reads left to right and takes an attention mask"
        )
