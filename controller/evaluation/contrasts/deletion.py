"""Deletion: a needed passage is taken out of evidence sets whose sizes say nothing (RINSE 3.1).

Two sizes are drawn for each example, and both sides are built at both: all needed passages, or all but one,
filled up with the example's other passages. The count alone then scores exactly one half in every group.
"""

from collections.abc import Iterator, Sequence

from ....tools.types import Passage
from ..datasets.examples import Example
from ..stable import stable_random
from .gaps import open_gaps
from .groups import Dropped, Group, Outcome, Side, shuffled

_SIZES = 2


def deletion(examples: Sequence[Example], seed: int) -> Iterator[Outcome]:
    """One outcome for every example that the source calls answerable."""
    for example in examples:
        if not example.answerable:
            yield Dropped(example.id, "unanswerable in the source")
            continue
        others = [p for place, p in enumerate(example.passages) if place not in example.support]
        gaps, reason = open_gaps(example)
        if not others:
            yield Dropped(example.id, "no passages besides the needed ones")
        elif not gaps:
            yield Dropped(example.id, reason)
        else:
            draw = stable_random(seed, example.id)
            removed = draw.choice(gaps).removed
            draw.shuffle(others)
            sizes = range(len(example.support), len(example.passages))
            chosen = draw.sample(sizes, min(_SIZES, len(sizes)))
            yield _group(example, removed, others, chosen, seed)


def _group(example: Example, removed: int, others: list[Passage], sizes: list[int], seed: int) -> Group:
    needed = [example.passages[place] for place in sorted(example.support)]
    left = [example.passages[place] for place in sorted(example.support - {removed})]

    def side(core: list[Passage], size: int) -> Side:
        passages = core + others[: size - len(core)]
        return Side(example.question, shuffled(passages, seed, example.id), example.answers, len(core))

    sufficient = tuple(side(needed, size) for size in sizes)
    return Group(example.id, sufficient, tuple(side(left, size) for size in sizes))
