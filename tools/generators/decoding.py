"""Decoding of a batch, greedy or drawn, with the top-K log-probabilities of every step."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch

from ..errors import ModelOutputError
from ..types import Generation, Rollout
from .batching import Cancelled
from .forward import CausalModel

Decode = Callable[[Sequence[int]], str]
"""From generated ids to their text."""


@dataclass(frozen=True, slots=True)
class Draw:
    """How a row's tokens are drawn: at `temperature` > 0, by a generator of this `seed` alone."""

    temperature: float
    seed: int


@dataclass(frozen=True, slots=True)
class DecodeRow:
    """One prompt to be continued: at most `max_tokens` >= 1 tokens, `top_k` = 0 for an answer alone.

    Without `draw` every token is the most probable one.
    """

    ids: tuple[int, ...]
    max_tokens: int
    top_k: int
    stop: tuple[str, ...]
    draw: Draw | None = None


@dataclass(slots=True)
class _Answer:
    """What one row has written so far."""

    row: DecodeRow
    decode: Decode
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    steps: list[tuple[float, ...]] = field(default_factory=list)
    text: str | None = None
    finish: Literal["stop", "length"] = "length"

    def take(self, token: int, logprob: float, top: Sequence[float], ends: frozenset[int]) -> bool:
        """Take one step's outcome; True when the answer is complete."""
        if self.row.top_k:
            self.steps.append(tuple(value for value in top[: self.row.top_k] if math.isfinite(value)))
        if token in ends:
            self.finish = "stop"
            return True
        self.ids.append(token)
        self.logprobs.append(logprob)
        return self._stopped() or len(self.ids) == self.row.max_tokens

    def _stopped(self) -> bool:
        """Whether a stop string is complete; if so, the answer is cut before the first of them."""
        if not self.row.stop:
            return False
        text = self.decode(self.ids)
        found = [position for stop in self.row.stop if (position := text.find(stop)) >= 0]
        if not found:
            return False
        self.text, self.finish = text[: min(found)], "stop"
        # The last token completed the stop string; earlier ones may have begun it.
        whole = len(self.ids) - 1
        while whole and len(self.decode(self.ids[:whole])) > min(found):
            whole -= 1
        del self.ids[whole:], self.logprobs[whole:]
        return True

    def rollout(self) -> Rollout:
        """The row's outcome so far."""
        text = self.decode(self.ids) if self.text is None else self.text
        generation = Generation(
            text.strip(), tuple(self.ids), tuple(self.logprobs), self.finish, len(self.row.ids)
        )
        return Rollout(generation, tuple(self.steps))


def decode_batch(
    model: CausalModel,
    decode: Decode,
    ends: frozenset[int],
    rows: Sequence[DecodeRow],
    cancelled: Sequence[Cancelled],
) -> list[Rollout]:
    """Rollouts of `rows` in one batch, in order; `ends` are the end-of-sequence ids.

    A row leaves the batch when it is done or cancelled. Raises ModelOutputError for a NaN log-probability.
    """
    answers = [_Answer(row, decode) for row in rows]
    choosers = [_chooser(row.draw) for row in rows]
    going = list(range(len(rows)))
    # Answers are scored under the prompts that wrote them, probes are not: only the former are worth keeping.
    keep = any(row.top_k == 0 for row in rows)
    context, logits = model.read([row.ids for row in rows], [1] * len(rows), keep=keep)
    for _ in range(max(row.max_tokens for row in rows)):
        chosen = [choosers[index] for index in going]
        tokens, logprobs, tops = _step(logits[:, -1], max(rows[index].top_k for index in going), chosen)
        alive = [
            place
            for place, index in enumerate(going)
            if not answers[index].take(tokens[place], logprobs[place], tops[place], ends)
            and not cancelled[index]()
        ]
        if not alive:
            break
        if len(alive) < len(going):
            context.select(alive)
            going = [going[place] for place in alive]
        logits = model.extend(context, [[tokens[place]] for place in alive], 1)
    return [answer.rollout() for answer in answers]


Chooser = Callable[[torch.Tensor], torch.Tensor]
"""From the log-probabilities of one step, shape (vocabulary,), to the next token, a scalar."""


def _chooser(draw: Draw | None) -> Chooser:
    """Greedy, or drawn by a generator of the row's own: what else is in the batch changes nothing."""
    if draw is None:
        return lambda logprobs: logprobs.argmax()
    dice = torch.Generator().manual_seed(draw.seed)

    def drawn(logprobs: torch.Tensor) -> torch.Tensor:
        weights = torch.softmax(logprobs.float().cpu() / draw.temperature, dim=-1)
        return torch.multinomial(weights, 1, generator=dice)[0].to(logprobs.device)

    return drawn


def _step(
    logits: torch.Tensor, top_k: int, choosers: Sequence[Chooser]
) -> tuple[list[int], list[float], list[list[float]]]:
    """Every row's token, its log-probability, the `top_k` largest ones; logits: (rows, vocabulary)."""
    logprobs = torch.log_softmax(logits, dim=-1)
    if torch.isnan(logprobs).any():
        raise ModelOutputError("the model's logits are NaN or infinite; try dtype float32")
    tokens = torch.stack([choose(row) for choose, row in zip(choosers, logprobs, strict=True)])
    values = logprobs.gather(1, tokens[:, None])[:, 0]
    tops = logprobs.topk(top_k, dim=-1).values if top_k else logprobs[:, :0]
    return tokens.tolist(), values.tolist(), tops.tolist()
