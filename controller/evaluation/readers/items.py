"""From question-answering examples to what each kind of reader is trained on."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ....policies.rinse.content import passage_text, question_pieces, window_texts
from ....tools.protocols import WordPieces
from ....tools.readers.training.joint import JointItem
from ....tools.readers.training.relevance import RelevanceItem
from ....tools.readers.training.span import SpanItem
from ....tools.readers.windows import Unit
from ....tools.types import Passage
from ..contrasts.gaps import open_gaps
from ..contrasts.lexical import LexicalIndex
from ..contrasts.near_miss import unanswered_by
from ..contrasts.overlap import checkable, holds, words
from ..datasets.examples import Example
from ..stable import stable_random
from .negatives import answer_spans, names, other_question, without_answer

OTHERS = 2
NEAR = 2
SIDE = 4
_CANDIDATES = 20

Pairs = list[tuple[tuple[int, ...], tuple[int, ...]]]


class Neighbours:
    """For every example of a family, the closest passages of other examples that do not answer it."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._passages = list({p.id: p for e in examples for p in e.passages}.values())
        self._index = LexicalIndex([(*words(p.title), *words(p.text)) for p in self._passages])

    def near(self, example: Example, count: int, start: int = 0) -> list[Passage]:
        """At most `count` passages, by BM25, that hold no gold answer and are not the example's own."""
        scores = self._index.bm25(words(example.question))
        answers = checkable(example.question, example.answers)
        own = {passage.id for passage in example.passages}
        found: list[Passage] = []
        for place in (-scores).argsort(kind="stable")[: _CANDIDATES + start]:
            passage = self._passages[int(place)]
            if passage.id in own or not answers or holds(passage, answers):
                continue
            found.append(passage)
        return found[start : start + count]


def joint_items(examples: Sequence[Example], seed: int) -> Iterator[JointItem]:
    """Sets that suffice beside sets that do not, of one family."""
    neighbours = Neighbours(examples)
    native = any(not example.answerable for example in examples)
    several = [e for e in examples if e.answerable and len(e.support) > 1]
    single = [e for e in examples if len(e.passages) == 1]
    for example in several:
        yield from _hops(example, neighbours, stable_random(seed, f"joint:{example.id}"))
    if native:
        yield from _shared(single, neighbours, seed)
    else:
        yield from _singles(single, neighbours, seed)


def _hops(example: Example, neighbours: Neighbours, draw: random.Random) -> Iterator[JointItem]:
    """Each needed passage in turn gives way to a distractor, its own or a strange one; counts are equal."""
    gaps, _ = open_gaps(example)
    if not gaps:
        return
    own = [k for k in range(len(example.passages)) if k not in example.support]
    kept = draw.sample(own, min(OTHERS, len(own)))
    strange = [p for p in neighbours.near(example, 3 * NEAR) if not any(g.closed_by(p) for g in gaps)]
    strange = draw.sample(strange, min(NEAR, len(strange)))
    order = [*sorted(example.support), *kept]
    passages = [*(example.passages[k] for k in order), *strange]
    needed = len(example.support)
    fill = list(range(needed, len(order)))
    extra = list(range(len(order), len(passages)))
    pairs: Pairs = []
    for gap in gaps:
        left = [k for k in range(needed) if order[k] != gap.removed]
        for place, other in enumerate(extra):
            # Strange passages stand on both sides: that one is there says nothing.
            shared = [*fill[1:], extra[place - 1]] if len(extra) > 1 else fill
            pairs.append(((*range(needed), *shared), (*left, *shared, other)))
        if fill:
            pairs.append(((*range(needed), *fill[1:]), (*left, *fill)))
    units = tuple((example.question, passage_text(p)) for p in passages)
    yield JointItem(units, tuple(k < needed for k in range(len(units))), tuple(pairs))


def _singles(examples: Sequence[Example], neighbours: Neighbours, seed: int) -> Iterator[JointItem]:
    """One needed passage: beside near ones, without its answer, and under another question."""
    for place, example in enumerate(examples):
        draw = stable_random(seed, f"joint:{example.id}")
        gold = example.passages[0]
        near = neighbours.near(example, NEAR, draw.randrange(3))
        units: list[Unit] = [(example.question, passage_text(p)) for p in (gold, *near)]
        pairs: Pairs = [((0,), (k,)) for k in range(1, len(units))]
        if len(near) > 1:
            pairs.append(((0, 1), (2, 1)))
        for unit in _spoilt(example, gold, near, draw):
            pairs.append(((0,), (len(units),)))
            if near:
                pairs.append(((0, 1), (len(units), 1)))
            units.append(unit)
        other = examples[draw.randrange(len(examples))] if place else example
        if unanswered_by(other, example):
            pairs.append(((0,), (len(units),)))
            units.append((other.question, passage_text(gold)))
        if pairs:
            yield JointItem(tuple(units), (True, *[False] * (len(units) - 1)), tuple(pairs))


def _spoilt(example: Example, gold: Passage, near: Sequence[Passage], draw: random.Random) -> Iterator[Unit]:
    """The passage without its answer, and the question about something else."""
    answers = checkable(example.question, example.answers)
    removed = without_answer(gold, answers, near[0]) if answers and near else None
    if removed is not None:
        yield example.question, passage_text(removed)
    strange = names(near[0].text) if near else []
    question = other_question(example, gold, strange, draw)
    if question is not None:
        yield question, passage_text(gold)


def _shared(examples: Sequence[Example], neighbours: Neighbours, seed: int) -> Iterator[JointItem]:
    """Passages with questions that they answer and questions, written about them, that they do not."""
    groups: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        groups[example.passages[0].id].append(example)
    for name, asked in groups.items():
        draw = stable_random(seed, f"joint:{name}")
        good = [e for e in asked if e.answerable]
        bad = [e for e in asked if not e.answerable]
        good, bad = draw.sample(good, min(SIDE, len(good))), draw.sample(bad, min(SIDE, len(bad)))
        passage = passage_text(asked[0].passages[0])
        units: list[Unit] = [(e.question, passage) for e in (*good, *bad)]
        pairs: Pairs = [((g,), (len(good) + b,)) for g in range(len(good)) for b in range(len(bad))]
        # Made negatives of one question are enough beside those that were written.
        for example in good[:1]:
            for near in neighbours.near(example, 1, draw.randrange(3)):
                pairs.append(((0,), (len(units),)))
                pairs += [((0, len(units)), (len(good), len(units)))] * bool(bad)
                units.append((example.question, passage_text(near)))
            for unit in _spoilt(example, example.passages[0], neighbours.near(example, 1), draw):
                pairs.append(((0,), (len(units),)))
                units.append(unit)
        if pairs:
            yield JointItem(tuple(units), tuple(k < len(good) for k in range(len(units))), tuple(pairs))


def span_items(examples: Sequence[Example], seed: int) -> Iterator[SpanItem]:
    """Answer-bearing passages, each beside one in which no gold answer survives (R Appendix E).

    Questions that their own set calls unanswerable are further negatives.
    """
    neighbours = Neighbours(examples)
    for example in examples:
        answers = checkable(example.question, example.answers)
        if not example.answerable:
            for passage in example.passages:
                yield SpanItem((example.question, passage_text(passage)), ())
            continue
        draw = stable_random(seed, f"span:{example.id}")
        for place in sorted(example.support):
            passage = example.passages[place]
            spans = answer_spans(passage_text(passage), answers)
            if not spans:
                continue
            yield SpanItem((example.question, passage_text(passage)), spans)
            near = neighbours.near(example, 1, draw.randrange(3))
            removed = without_answer(passage, answers, near[0]) if near else None
            if removed is not None:
                yield SpanItem((example.question, passage_text(removed)), ())
            for other in near:
                yield SpanItem((example.question, passage_text(other)), ())


def relevance_items(
    examples: Sequence[Example], seed: int, wordpieces: WordPieces
) -> Iterator[RelevanceItem]:
    """Each needed passage against others of the same question, filled up with near ones.

    A question's parts are the windows that the content reader asks its reranker about.
    """
    neighbours = Neighbours(examples)
    for example in examples:
        if not example.answerable:
            continue
        draw = stable_random(seed, f"relevance:{example.id}")
        own = [p for k, p in enumerate(example.passages) if k not in example.support]
        others = draw.sample(own, min(OTHERS, len(own)))
        others += neighbours.near(example, OTHERS - len(others), draw.randrange(2))
        texts = tuple(passage_text(p) for p in others)
        parts = tuple(window_texts(wordpieces, question_pieces(wordpieces, example.question)))
        for place in sorted(example.support):
            if texts and parts:
                yield RelevanceItem(example.question, parts, passage_text(example.passages[place]), texts)
