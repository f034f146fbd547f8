"""One question-answering example with annotated support, whatever data set it came from."""

import hashlib
from dataclasses import dataclass

from ....tools.types import Passage


@dataclass(frozen=True, slots=True)
class Fact:
    """What one passage contributes: the passage's place, what the fact is about, and what it says of it."""

    passage: int
    subject: str
    value: str


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its passages.

    `answers` holds the gold answer first, then its aliases; () where the set gives none. `support` holds the
    places of the passages that are needed, all of them. `facts` is what is known of their contributions.
    `answerable` is false where the set itself says that the passages do not answer the question.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    passages: tuple[Passage, ...]
    support: frozenset[int]
    facts: tuple[Fact, ...] = ()
    answerable: bool = True


def make_passage(title: str, text: str) -> Passage:
    """A passage whose id is a hash of its content, so that ids tell nothing of where it was drawn from."""
    digest = hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:16]
    return Passage(id=digest, text=text, title=title, source=title or digest)
