"""The caches that people use today, and the best that any cache could do.

All keep to the expiry of what they hold. Cosines are those of a sentence encoder, in [-1, 1].
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import nlargest
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ....policies.kept_for import KeptFor, KeptSet
from ....tools.protocols import Reranker
from ....tools.retrievers.expiry import EXPIRES
from ....tools.types import Passage
from ...cache.node import need_key
from .asking import SWEPT, Asked, Cache, Method, fetched, fresh, suffices
from .stream import Event

MOST_LIKE: Final = 16
"""Questions held that a new one is compared with by more than their cosine."""


class Table:
    """Cosines of every text of `rows` with every text of `columns`, each text once."""

    def __init__(self, rows: Sequence[str], columns: Sequence[str], cosines: NDArray[np.float32]) -> None:
        self._rows = {text: place for place, text in enumerate(rows)}
        self._columns = {text: place for place, text in enumerate(columns)}
        self._cosines = cosines

    def of(self, row: str, column: str) -> float:
        """The cosine of the two texts."""
        return float(self._cosines[self._rows[row], self._columns[column]])


@dataclass(frozen=True, slots=True)
class Cosines:
    """Cosines of every question of a stream with every question, and with every passage."""

    questions: Table
    passages: Table

    @classmethod
    async def of(cls, events: Sequence[Event], encoder: Reranker) -> "Cosines":
        """Encode all texts of a stream once."""
        questions = list(dict.fromkeys(event.question for event in events))
        passages = list(dict.fromkeys(_read(p.passage()) for event in events for p in event.passages))
        with_questions = await encoder.score(questions, questions)
        with_passages = await encoder.score(questions, passages)
        return cls(Table(questions, questions, with_questions), Table(questions, passages, with_passages))


def _read(passage: Passage) -> str:
    return f"{passage.title}\n{passage.text}".strip()


class Store(Protocol):
    """What a cache holds, and how it judges it."""

    def best(self, event: Event) -> tuple[float | None, tuple[Passage, ...]]:
        """The score of the best that is held for the event, None for nothing, and what it would serve."""
        ...

    def keep(self, event: Event) -> None:
        """Hold what the event's fetch brought."""
        ...


@dataclass(slots=True)
class ThresholdCache:
    """Serves the best that its store holds from the threshold on, else fetches."""

    store: Store
    threshold: float

    async def ask(self, event: Event) -> Asked:
        """See Cache."""
        score, passages = self.store.best(event)
        if score is not None and score >= self.threshold:
            return Asked(score, passages)
        self.store.keep(event)
        return Asked(score, None)


class QuestionStore:
    """Answers by the question held that is most like the event's, and serves what was fetched for that one.

    This is a semantic cache over question embeddings; with equality in place of cosine, an exact cache.
    """

    def __init__(self, likeness: Callable[[str, str], float | None]) -> None:
        self._likeness = likeness
        self._held: dict[str, list[Passage]] = {}

    def best(self, event: Event) -> tuple[float | None, tuple[Passage, ...]]:
        """See Store."""
        score: float | None = None
        served: list[Passage] = []
        for question, passages in self._held.items():
            likeness = self._likeness(event.question, question)
            better = likeness is not None and (score is None or likeness > score)
            if better and all(fresh(passage, event) for passage in passages):
                score, served = likeness, passages
        return score, tuple(served)

    def keep(self, event: Event) -> None:
        """See Store."""
        self._held[event.question] = fetched(event)


class SharedStore:
    """As `QuestionStore`, but a passage is held once, until the latest expiry that a fetch of it gave.

    What was kept for a question serves as long as all of it is fresh, whichever fetch made it so. `likeness`
    scores a question and what was kept for one of the `MOST_LIKE` held that its cosine is largest with.
    """

    def __init__(self, cosines: Table, likeness: Callable[[str, KeptSet], float]) -> None:
        self._cosines = cosines
        self._likeness = likeness
        self._held: dict[str, Passage] = {}
        self._kept: dict[str, KeptSet] = {}

    def best(self, event: Event) -> tuple[float | None, tuple[Passage, ...]]:
        """See Store."""
        whole = [one for one in self._kept.values() if self._fresh(one, event)]
        like = nlargest(MOST_LIKE, whole, key=lambda one: self._cosines.of(event.question, one.question))
        scored = [(self._likeness(event.question, one), one) for one in like]
        if not scored:
            return None, ()
        score, best = max(scored, key=lambda pair: pair[0])
        return score, tuple(self._held[passage.id] for passage in best.passages)

    def keep(self, event: Event) -> None:
        """See Store."""
        passages = tuple(fetched(event))
        _hold(self._held, passages)
        if passages:
            self._kept[event.question] = KeptSet(event.question, passages)

    def _fresh(self, kept: KeptSet, event: Event) -> bool:
        return all(fresh(self._held[passage.id], event) for passage in kept.passages)


class PassageStore:
    """Answers by the passage held that is most like the question, and serves the `k` most like it."""

    def __init__(self, cosines: Table, k: int) -> None:
        self._cosines = cosines
        self._k = k
        self._held: dict[str, Passage] = {}

    def best(self, event: Event) -> tuple[float | None, tuple[Passage, ...]]:
        """See Store."""
        scored = [
            (self._cosines.of(event.question, _read(passage)), passage)
            for passage in self._held.values()
            if fresh(passage, event)
        ]
        if not scored:
            return None, ()
        scored.sort(key=lambda pair: -pair[0])
        return scored[0][0], tuple(passage for _, passage in scored[: self._k])

    def keep(self, event: Event) -> None:
        """See Store."""
        _hold(self._held, fetched(event))


class PerfectStore:
    """Knows the annotated support: serves exactly where all of it is held and fresh."""

    def __init__(self) -> None:
        self._held: dict[str, Passage] = {}

    def best(self, event: Event) -> tuple[float | None, tuple[Passage, ...]]:
        """See Store."""
        held = tuple(self._held.values())
        return (1.0, held) if suffices(event, held) else (None, ())

    def keep(self, event: Event) -> None:
        """See Store."""
        _hold(self._held, fetched(event))


def _hold(held: dict[str, Passage], passages: Sequence[Passage]) -> None:
    """Hold what a fetch brought; a passage that is held already keeps the later expiry, as the node's do."""
    for passage in passages:
        before = held.get(passage.id, passage)
        held[passage.id] = max(passage, before, key=lambda one: float(one.metadata[EXPIRES]))


def decision(cosines: Cosines, kept_for: KeptFor) -> Method:
    """The decision of `/v1/decide` and of the node by what passages were kept for, its threshold swept."""
    known: dict[tuple[str, str], tuple[KeptSet, float]] = {}

    def likeness(question: str, kept: KeptSet) -> float:
        found = known.get((question, kept.question))
        if found is None or found[0].passages != kept.passages:
            cosine = cosines.questions.of(question, kept.question)
            found = known[question, kept.question] = kept, kept_for.match(question, kept, cosine).score
        return found[1]

    return _method(SWEPT, lambda: SharedStore(cosines.questions, likeness))


def rivals(cosines: Cosines, k: int) -> list[Method]:
    """Exact match, cosine on questions, cosine on passages, and the best possible.

    Cosine on questions comes twice: as caches hold it, each question with its own answer, and over shared
    passages, which is the node's decision without what the passages say.
    """

    def alike(question: str, kept: KeptSet) -> float:
        return cosines.questions.of(question, kept.question)

    return [
        _method("exact question", lambda: QuestionStore(_equal), fixed=True),
        _method("cosine of questions", lambda: QuestionStore(cosines.questions.of)),
        _method("cosine of questions, passages shared", lambda: SharedStore(cosines.questions, alike)),
        _method("cosine of passages", lambda: PassageStore(cosines.passages, k)),
        _method("best possible", PerfectStore, fixed=True),
    ]


def _equal(one: str, other: str) -> float | None:
    return 1.0 if need_key(one) == need_key(other) else None


def _method(name: str, store: Callable[[], Store], *, fixed: bool = False) -> Method:
    @contextmanager
    def opened(threshold: float) -> Iterator[Cache]:
        yield ThresholdCache(store(), -math.inf if fixed else threshold)

    return Method(name, fixed, opened)
