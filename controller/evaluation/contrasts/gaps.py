"""Which needed passages can be taken away so that the rest truly does not suffice."""

from dataclasses import dataclass

from ....tools.types import Passage
from ..datasets.examples import Example
from .overlap import checkable, holds, repeats, states, words


@dataclass(frozen=True, slots=True)
class Gap:
    """An example without one needed passage.

    `giveaways` are what no other passage may state: the gold answers where the removed passage held them,
    else none. `facts` are pairs of subject and value that no one passage may state together.
    """

    example: Example
    removed: int
    giveaways: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]

    @property
    def passage(self) -> Passage:
        """The removed passage."""
        return self.example.passages[self.removed]

    @property
    def rest(self) -> tuple[Passage, ...]:
        """The passages that stay, in their order."""
        return tuple(p for place, p in enumerate(self.example.passages) if place != self.removed)

    def closed_by(self, passage: Passage) -> str:
        """Why `passage` would fill the gap, "" where it would not."""
        if holds(passage, self.giveaways):
            return "the answer stands in another passage"
        if any(holds(passage, [subject]) and holds(passage, [value]) for subject, value in self.facts):
            return "the removed fact stands in another passage"
        if repeats(passage, self.passage):
            return "another passage repeats the removed one"
        return ""


def open_gaps(example: Example) -> tuple[list[Gap], str]:
    """Every gap that the passages which stay leave open, and why the last of the others is closed.

    The gold answer may stay only in needed passages, and only where the removed one did not hold it: then the
    passage that leads to it is what is missing (RINSE section 3.3, cross-passage evidence).
    """
    answers = checkable(example.question, example.answers)
    holders = {place for place, passage in enumerate(example.passages) if holds(passage, answers)}
    if holders - example.support:
        return [], "the answer stands in a passage that is not support"
    gaps: list[Gap] = []
    reason = "no support is annotated"
    for place in sorted(example.support):
        gap = Gap(example, place, answers if place in holders else (), _facts(example, place))
        closed = next(filter(None, map(gap.closed_by, gap.rest)), "")
        if closed:
            reason = closed
        else:
            gaps.append(gap)
    return gaps, reason


def _facts(example: Example, place: int) -> tuple[tuple[str, str], ...]:
    """The passage's facts that one can look for: those whose value is not part of their subject."""
    return tuple(
        (fact.subject, fact.value)
        for fact in example.facts
        if fact.passage == place and words(fact.value) and not _within(fact.subject, fact.value)
    )


def _within(subject: str, value: str) -> bool:
    return states(subject, value) or states(value, subject)
