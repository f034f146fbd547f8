"""Shared passages added to both sides of every group, the whole set then in BM25 order (RINSE Appendix F)."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...policies.rinse.content import passage_text
from ...policies.rinse.records import ContrastRecord
from ...tools.types import Passage
from .groups import stable_random
from .lexical import LexicalIndex
from .overlap import words

COUNTS = (0, 5, 10, 15, 20)
"""How many passages are added, as in RINSE Tables 2 and 7; 0 reorders, too."""


class Additions:
    """What may be added to the records of one family and construction: the passages of its other groups.

    Every record of a group gets the same first k passages, so that nothing of what is added differs between
    its sides. Passages of a document that the group already shows are never added, nor are those of a group
    with the same question: they could fill the gap.
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

    def _grown(self, record: ContrastRecord, count: int) -> ContrastRecord:
        passages = [*record.passages, *self._added[record.group][:count]]
        scores = self._index.bm25(words(record.question))
        own = [scores[self._places[passage_text(passage)]] for passage in passages]
        order = np.argsort(-np.array(own), kind="stable")
        return replace(record, passages=tuple(passages[place] for place in order))

    def _draw(self, seed: int, most: int) -> dict[str, list[Passage]]:
        """Up to `most` passages for every group."""
        own: dict[str, set[str]] = {}
        questions: dict[str, set[tuple[str, ...]]] = {}
        for record in self._records:
            documents = own.setdefault(record.group, set())
            for passage in record.passages:
                documents.update(_names(passage))
            questions.setdefault(record.group, set()).add(words(record.question))
        asked: dict[tuple[str, ...], set[str]] = {}
        for record in self._records:
            names = asked.setdefault(words(record.question), set())
            for passage in record.passages:
                names.update(_names(passage))
        return {
            group: self._first(
                most,
                f"{seed}:{group}",
                documents.union(*(asked[question] for question in questions[group])),
            )
            for group, documents in own.items()
        }

    def _first(self, most: int, name: str, barred: set[str]) -> list[Passage]:
        draw = stable_random(0, f"additions:{name}")
        found: list[Passage] = []
        taken = set(barred)
        for place in draw.sample(range(len(self._pool)), len(self._pool)):
            passage = self._pool[place]
            if len(found) == most:
                break
            if not taken & set(_names(passage)):
                found.append(passage)
                taken.update(_names(passage))
        return found


def _names(passage: Passage) -> tuple[str, ...]:
    """What tells a passage and its document apart from others."""
    return tuple(
        f"{kind}:{value}"
        for kind, value in (("text", passage.text), ("title", passage.title), ("source", passage.source))
        if value
    )
