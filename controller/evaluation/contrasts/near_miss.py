"""Pairs questions with evidence that is about the same things and does not answer them.

Each question and each evidence set stands on the insufficient side at most twice, so that over a data set
neither the question alone nor the evidence alone tells the label; without the bound a few that are close to
everything would.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..datasets.examples import Example
from .lexical import LexicalIndex
from .overlap import checkable, holds, repeats, words

_CANDIDATES = 50
_PARAPHRASE = 0.8
_USES = 2

Edge = tuple[float, int, int]


def unanswered_by(example: Example, other: Example) -> bool:
    """Whether nothing shows that `other`'s passages answer `example`'s question.

    False, too, where the gold answer is one that cannot be looked for, such as yes or no, or where both
    questions may be the same in other words.
    """
    answers = checkable(example.question, example.answers)
    if not answers or any(holds(passage, answers) for passage in other.passages):
        return False
    needed = [example.passages[place] for place in example.support]
    if any(repeats(passage, support) for passage in other.passages for support in needed):
        return False
    first, second = set(words(example.question)), set(words(other.question))
    return len(first & second) < _PARAPHRASE * len(first | second)


def evidence_words(example: Example) -> tuple[str, ...]:
    """The words of all passages and their titles."""
    return tuple(
        word for passage in example.passages for word in (*words(passage.title), *words(passage.text))
    )


def nearest_evidence(examples: Sequence[Example]) -> dict[int, int]:
    """For each question the example whose evidence is closest by BM25 without answering it."""
    index = LexicalIndex([evidence_words(example) for example in examples])
    edges = (
        (score, question, evidence)
        for question, example in enumerate(examples)
        for score, evidence in _best(index.bm25(words(example.question)))
    )
    return _assign(edges, lambda question, evidence: unanswered_by(examples[question], examples[evidence]))


def nearest_question(examples: Sequence[Example]) -> dict[int, int]:
    """For each evidence the example whose question it covers best, by IDF, without answering it."""
    index = LexicalIndex([words(example.question) for example in examples])
    edges = (
        (score, evidence, question)
        for evidence, example in enumerate(examples)
        for score, question in _best(index.coverage(evidence_words(example)))
    )
    return _assign(edges, lambda evidence, question: unanswered_by(examples[question], examples[evidence]))


def _best(scores: NDArray[np.float64]) -> list[tuple[float, int]]:
    places = np.argsort(-scores, kind="stable")[:_CANDIDATES]
    return [(float(scores[place]), int(place)) for place in places if scores[place] > 0]


def _assign(edges: Iterable[Edge], allowed: Callable[[int, int], bool]) -> dict[int, int]:
    """One column for each row, no column more than twice, the closest first; ties go to the earlier."""
    chosen: dict[int, int] = {}
    uses: Counter[int] = Counter()
    for _, row, column in sorted(edges, key=lambda edge: (-edge[0], edge[1], edge[2])):
        if row != column and row not in chosen and uses[column] < _USES and allowed(row, column):
            chosen[row] = column
            uses[column] += 1
    return chosen
