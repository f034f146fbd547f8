"""Passages in requests."""

from typing import Annotated

from pydantic import Field

from ...policies.kept_for import KeptSet
from ...tools.types import Passage
from .fields import In, Text, Wording

MOST_PASSAGES = 100
MOST_CHARACTERS = 10_000


class PassageIn(In):
    """One passage that the caller holds."""

    text: Annotated[Wording, Field(max_length=MOST_CHARACTERS)] = Field(description="the passage")
    title: Annotated[Text, Field(max_length=1000)] = Field(default="", description="its document's title")
    source: Annotated[Text, Field(max_length=2000)] = Field(
        default="", description="its document; passages of one document are read together"
    )
    id: Annotated[Text, Field(max_length=1000)] = Field(default="", description="the caller's name for it")
    url: Annotated[Text, Field(max_length=2000)] = Field(default="", description="where it comes from")
    kept_for: Annotated[Text, Field(max_length=4000)] = Field(
        default="",
        description="the question that it was fetched for; with it in any passage, the decision is by the "
        "likeness of the questions and by what the passages kept for the likest say of the new one",
    )


PassagesIn = Annotated[tuple[PassageIn, ...], Field(max_length=MOST_PASSAGES, strict=False)]


def held(passages: PassagesIn) -> tuple[Passage, ...]:
    """The passages as the policies read them; those without an id are numbered in their order."""
    return tuple(
        Passage(
            id=passage.id or str(number),
            text=passage.text,
            title=passage.title,
            source=passage.source,
            url=passage.url or None,
        )
        for number, passage in enumerate(passages)
    )


def kept_sets(passages: PassagesIn) -> tuple[KeptSet, ...]:
    """Passages by the question that they were kept for; those that name none are left out."""
    sets: dict[str, list[Passage]] = {}
    for given, passage in zip(passages, held(passages), strict=True):
        if given.kept_for.strip():
            sets.setdefault(given.kept_for.strip(), []).append(passage)
    return tuple(KeptSet(question, tuple(found)) for question, found in sets.items())
