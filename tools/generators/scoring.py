"""Teacher-forced log-probabilities of continuations after prompts."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ..errors import ModelOutputError
from .batching import Cancelled
from .forward import CausalModel


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One continuation, of at least one token, after one prompt."""

    prompt: tuple[int, ...]
    continuation: tuple[int, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """What the model reads: the last token is only predicted."""
        return self.prompt + self.continuation[:-1]


def score_batch(
    model: CausalModel, rows: Sequence[ScoreRow], cancelled: Sequence[Cancelled]
) -> list[tuple[float, ...]]:
    """Natural-log probabilities of every token of each row's continuation.

    Raises ModelOutputError where one is not finite.
    """
    if all(is_cancelled() for is_cancelled in cancelled):
        return [()] * len(rows)
    found = model.tails([row.ids for row in rows], [len(row.continuation) for row in rows])
    scores = []
    for row, mine in zip(rows, found, strict=True):
        targets = torch.tensor(row.continuation, device=mine.device)
        values = mine.gather(1, targets[:, None])[:, 0] - torch.logsumexp(mine, dim=-1)
        if not torch.isfinite(values).all():
            raise ModelOutputError("the model's token log-probabilities are not finite; try dtype float32")
        scores.append(tuple(values.tolist()))
    return scores
