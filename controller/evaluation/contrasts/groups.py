"""What a construction makes of an example: a group of contrasting records, or the reason why none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....tools.types import Passage
from ..stable import stable_random


class Side(NamedTuple):
    """One question with one evidence set.

    `answers` are the question's gold answers, `support` how many of the passages are annotated as needed, as
    far as these are known.
    """

    question: str
    passages: tuple[Passage, ...]
    answers: tuple[str, ...] = ()
    support: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Contrasts from one example: every sufficient side is compared with every insufficient one."""

    id: str
    sufficient: tuple[Side, ...]
    insufficient: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """An example of which no group was made, and why."""

    id: str
    reason: str


Outcome = Group | Dropped


def shuffled(passages: Sequence[Passage], seed: int, name: str) -> tuple[Passage, ...]:
    """The passages in an order that carries no signal: the same for all sets of one length in a group."""
    order = list(passages)
    stable_random(seed, f"order:{name}").shuffle(order)
    return tuple(order)
