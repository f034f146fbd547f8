"""Shared passages added to both sides of every group, the whole set then in BM25 order (RINSE Appendix F)."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from ....policies.rinse.content import passage_text
from ....policies.rinse.records import ContrastRecord
from ....tools.types import Passage
from ..stable import stable_random
from .lexical import LexicalIndex
from .overlap import checkable, holds, words

COUNTS = (0, 5, 10, 15, 20)
"""How many passages are added, as in RINSE Tables 2 and 7; 0 reorders, too."""


class Additions:
    """What may be added to the records of one family and construction: the passages of its other groups.

    Every record of a group gets the same first k passages, so that nothing of what is added differs between
    its sides. Passages that could fill the gap are never added: those of a document that a record with one of
    the group's questions shows, and those that state an answer, where answers are known.
    """

    def __init__(self, records: Sequence[ContrastRecord], seed: int, most: int = max(COUNTS)) -> None:
        pool: dict[str, Passage] = {}
        for record in records:
            pool.update((passage_text(passage), passage) for passage in record.passages)
        self._records = records
        self._texts = list(pool)
        self._pool = list(pool.values())
        self._places = {text: place for place, text in enumerate(self._texts)}
        self._index = LexicalIndex([words(text) for text in self._texts])
        self._added = self._draw(seed, most)

    @property
    def pool(self) -> str:
        """Hash of all that may be added."""
        return hashlib.sha256("\x00".join(sorted(self._texts)).encode("utf-8", "surrogatepass")).hexdigest()[
            :16
        ]

    def at(self, count: int) -> list[ContrastRecord]:
        """The records, each with its group's first `count` added passages, in BM25 order.

        The order is by the score of title and text for the record's question; equal scores keep their order.
        """
        return [self._grown(record, count) for record in self._records]

    def fewest(self, count: int) -> int:
        """How many of `count` passages the group gets that gets the fewest: the pool may hold no more."""
        return min(len(found[:count]) for found in self._added.values())

    def _grown(self, record: ContrastRecord, count: int) -> ContrastRecord:
        passages = [*record.passages, *self._added[record.group][:count]]
        scores = self._index.bm25(words(record.question))
        own = [scores[self._places[passage_text(passage)]] for passage in passages]
        order = np.argsort(-np.array(own), kind="stable")
        return replace(record, passages=tuple(passages[place] for place in order))

    def _draw(self, seed: int, most: int) -> dict[str, list[Passage]]:
        """Up to `most` passages for every group."""
        shown: dict[tuple[str, ...], set[str]] = {}
        asked: dict[str, set[tuple[str, ...]]] = {}
        answers: dict[str, set[str]] = {}
        for record in self._records:
            question = words(record.question)
            shown.setdefault(question, set()).update(*map(_names, record.passages))
            asked.setdefault(record.group, set()).add(question)
            answers.setdefault(record.group, set()).update(checkable(record.question, record.answers))
        return {
            group: self._first(
                most,
                f"{seed}:{group}",
                set().union(*(shown[question] for question in questions)),
                sorted(answers[group]),
            )
            for group, questions in asked.items()
        }

    def _first(self, most: int, name: str, taken: set[str], answers: Sequence[str]) -> list[Passage]:
        """The first passages in an order drawn for the group whose documents are not `taken`."""
        order = stable_random(0, f"additions:{name}").sample(self._pool, len(self._pool))
        fitting = (p for p in order if not taken & set(_names(p)) and not holds(p, answers))
        return list(islice(fitting, most))


def _names(passage: Passage) -> tuple[str, ...]:
    """What tells a passage and its document apart from others."""
    return tuple(
        f"{kind}:{value}"
        for kind, value in (("text", passage.text), ("title", passage.title), ("source", passage.source))
        if value
    )
