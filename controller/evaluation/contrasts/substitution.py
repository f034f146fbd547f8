"""Substitution: a needed passage gives way to a distractor; the question and the count stay (RINSE 3.1).

Sets of several passages follow the paper's Appendix B: one needed passage is drawn, and two insufficient sets
replace it, one by a passage of another example, one by a passage whose title shares a word with the removed
one's. Sets of one passage get the nearest passage that does not hold the answer. Where a data set brings its
own answerable and unanswerable variants of one id, as MuSiQue-Full does, those are the group.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ....tools.types import Passage
from ..datasets.examples import Example
from ..stable import stable_random
from .gaps import Gap, open_gaps
from .groups import Dropped, Group, Outcome, Side, shuffled
from .near_miss import nearest_evidence
from .overlap import checkable, holds, words

_DRAWS = 200
_TITLE_LETTERS = 3
_LEAST_PASSAGES = 4
_LEAST_SUPPORT = 2


def substitution(examples: Sequence[Example], seed: int) -> Iterator[Outcome]:
    """One outcome for every example, or for every pair of native variants."""
    answerable = {example.id for example in examples if example.answerable}
    unanswerable = {example.id for example in examples if not example.answerable}
    variants = answerable & unanswerable
    yield from _native([example for example in examples if example.id in variants], seed)
    for name in sorted(unanswerable - variants):
        yield Dropped(name, "unanswerable in the source, without an answerable variant")
    own = [example for example in examples if example.answerable and example.id not in variants]
    yield from _nearest([example for example in own if len(example.passages) == 1])
    yield from _replaced([example for example in own if len(example.passages) > 1], seed)


def _native(examples: Sequence[Example], seed: int) -> Iterator[Outcome]:
    groups: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        groups[example.id].append(example)
    for name, group in groups.items():
        sides = {
            label: tuple(
                Side(example.question, shuffled(example.passages, seed, name), example.answers)
                for example in group
                if example.answerable is label
            )
            for label in (True, False)
        }
        yield Group(name, sides[True], sides[False])


def _nearest(examples: Sequence[Example]) -> Iterator[Outcome]:
    partners = nearest_evidence(examples)
    for place, example in enumerate(examples):
        if place in partners:
            distractor = examples[partners[place]].passages
            sufficient = Side(example.question, example.passages, example.answers, 1)
            insufficient = Side(example.question, distractor, example.answers, 0)
            yield Group(example.id, (sufficient,), (insufficient,))
        elif not checkable(example.question, example.answers):
            yield Dropped(example.id, "the answer cannot be looked for in a passage")
        else:
            yield Dropped(example.id, "no near passage without the answer is left")


def _replaced(examples: Sequence[Example], seed: int) -> Iterator[Outcome]:
    pool = _Pool(examples)
    for example in examples:
        if len(example.support) < _LEAST_SUPPORT or len(example.passages) < _LEAST_PASSAGES:
            yield Dropped(example.id, "fewer than two needed passages, or than four in all")
            continue
        gaps, reason = open_gaps(example)
        if not gaps:
            yield Dropped(example.id, reason)
            continue
        sides = _both_kinds(gaps, pool, stable_random(seed, example.id))
        if sides:
            left = (len(example.support), *[len(example.support) - 1] * (len(sides) - 1))
            first, *rest = (
                Side(example.question, shuffled(side, seed, example.id), example.answers, support)
                for side, support in zip(sides, left, strict=True)
            )
            yield Group(example.id, (first,), tuple(rest))
        else:
            yield Dropped(example.id, "no distractor of both kinds")


def _both_kinds(gaps: list[Gap], pool: "_Pool", draw: random.Random) -> list[tuple[Passage, ...]]:
    """The example's set and its two insufficient ones, for a gap that both kinds fit; [] where none does."""
    for gap in draw.sample(gaps, len(gaps)):
        any_passage = pool.any(gap, draw)
        related = pool.related(gap, draw, any_passage)
        if any_passage is not None and related is not None:
            return [gap.example.passages, _with(gap, any_passage), _with(gap, related)]
    return []


def _with(gap: Gap, distractor: Passage) -> tuple[Passage, ...]:
    """The example's passages with the distractor in the place of the removed one."""
    passages = list(gap.example.passages)
    passages[gap.removed] = distractor
    return tuple(passages)


class _Pool:
    """All passages of all examples, to draw distractors from."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._entries = [(example.id, passage) for example in examples for passage in example.passages]
        self._by_title_word: dict[str, list[int]] = defaultdict(list)
        for place, (_, passage) in enumerate(self._entries):
            for word in _title_words(passage):
                self._by_title_word[word].append(place)

    def any(self, gap: Gap, draw: random.Random) -> Passage | None:
        """A passage of another example, at random."""
        places = (draw.randrange(len(self._entries)) for _ in range(_DRAWS))
        return self._first(gap, places, None)

    def related(self, gap: Gap, draw: random.Random, other_than: Passage | None) -> Passage | None:
        """A passage of another example whose title shares a word of more than three letters, at random."""
        wanted = sorted(_title_words(gap.passage))
        places = sorted({place for word in wanted for place in self._by_title_word[word]})
        draw.shuffle(places)
        return self._first(gap, iter(places[:_DRAWS]), other_than)

    def _first(self, gap: Gap, places: Iterator[int], other_than: Passage | None) -> Passage | None:
        answers = checkable(gap.example.question, gap.example.answers)
        titles = {passage.title for passage in gap.example.passages}
        for place in places:
            owner, passage = self._entries[place]
            if owner == gap.example.id or passage.title in titles or passage == other_than:
                continue
            if not gap.closed_by(passage) and not holds(passage, answers):
                return passage
        return None


def _title_words(passage: Passage) -> set[str]:
    return {word for word in words(passage.title) if len(word) > _TITLE_LETTERS}
