"""Question swap: the evidence stays, the question changes (RINSE 3.1).

Where the data set brings unanswerable questions, as SQuAD 2.0 does, every answerable question of a passage
stands against every unanswerable one. Elsewhere the evidence gets the question of another example that it
covers best without holding the answer.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ..datasets.examples import Example
from ..stable import stable_id
from .groups import Dropped, Group, Outcome, Side, shuffled
from .near_miss import nearest_question
from .overlap import words


def question_swap(examples: Sequence[Example], seed: int) -> Iterator[Outcome]:
    """One outcome for every evidence set."""
    if any(not example.answerable for example in examples):
        yield from _native(examples, seed)
    else:
        yield from _nearest(examples, seed)


def _native(examples: Sequence[Example], seed: int) -> Iterator[Outcome]:
    sets: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        sets[stable_id(*(passage.id for passage in example.passages))].append(example)
    for name, asked in sets.items():
        passages = shuffled(asked[0].passages, seed, name)
        labels = defaultdict(set)
        for example in asked:
            labels[words(example.question)].add(example.answerable)
        clear = [example for example in asked if len(labels[words(example.question)]) == 1]
        sufficient = tuple(
            Side(example.question, passages, example.answers) for example in clear if example.answerable
        )
        insufficient = tuple(Side(example.question, passages) for example in clear if not example.answerable)
        if sufficient and insufficient:
            yield Group(name, sufficient, insufficient)
        else:
            yield Dropped(name, "only answerable or only unanswerable questions")


def _nearest(examples: Sequence[Example], seed: int) -> Iterator[Outcome]:
    partners = nearest_question(examples)
    for place, example in enumerate(examples):
        if place not in partners:
            yield Dropped(example.id, "no related question without its answer here is left")
            continue
        passages = shuffled(example.passages, seed, example.id)
        swapped = Side(examples[partners[place]].question, passages)
        asked = Side(example.question, passages, example.answers)
        yield Group(example.id, (asked,), (swapped,))
