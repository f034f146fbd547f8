"""What /v1/decide reads and what it answers."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from .answer_body import ReaderBody, WindowBody
from .fields import In, Out, Real, Text, Wording
from .passages import PassagesIn

MOST_ITEMS = 1000

# Which form a body has is told by the field that only this form has, so that what is wrong with it is named
# by its field; the tags are no part of that name.
TAGS = PASSAGES, INDEX, BATCH = "«passages»", "«index»", "«batch»"

Question = Annotated[Wording, Field(description="the question; the setting question_characters limits it")]


class OverPassages(In):
    """Do these passages suffice?"""

    question: Question
    passages: PassagesIn = Field(description="what the cache holds for the question; may be empty")


class OverIndex(In):
    """Does what this index finds suffice?"""

    question: Question
    index: Text = Field(description="an index of the server by name; `default` is its own")


def _item(value: Any) -> str:
    keys = value if isinstance(value, Mapping) else {}
    return INDEX if "index" in keys and "passages" not in keys else PASSAGES


def _body(value: Any) -> str:
    return BATCH if isinstance(value, Mapping) and "items" in value else _item(value)


Item = Annotated[
    Annotated[OverPassages, Tag(PASSAGES)] | Annotated[OverIndex, Tag(INDEX)],
    Discriminator(_item),
]


class Batch(In):
    """Many questions at once; answered whole or not at all."""

    items: Annotated[tuple[Item, ...], Field(min_length=1, max_length=MOST_ITEMS, strict=False)] = Field(
        description="the questions, each with its passages or its index"
    )


DecideRequest = Annotated[
    Annotated[OverPassages, Tag(PASSAGES)] | Annotated[OverIndex, Tag(INDEX)] | Annotated[Batch, Tag(BATCH)],
    Discriminator(_body),
]


class KeptForBody(Out):
    """How well what was kept for another question serves this one; it decides where it is given."""

    question: str = Field(description="the question that the passages were kept for, the likest")
    cosine: Real = Field(description="cosine of both questions' embeddings, in [-1, 1]")
    covered: Real = Field(
        description="share of the question's IDF mass that is new and that the passages hold, in [0, 1]"
    )
    uncovered: Real = Field(description="share of it in `missing`, in [0, 1]")
    missing: tuple[str, ...] = Field(description="names in the question that nothing kept there holds")
    score: Real = Field(description="1 - (1 - cosine) exp(3 uncovered - 2 covered); at most 1")
    threshold: Real = Field(description="a hit from this score on: the setting cache.alike")


class DecisionBody(Out):
    """Whether the passages answer the question."""

    decision: Literal["hit", "miss"] = Field(description="`hit`: they suffice; `miss`: new content is needed")
    kept_for: KeptForBody | None = Field(
        description="what decides where passages say what they were kept for; null where RINSE decides alone"
    )
    score: Real | None = Field(
        description="RINSE: sum of the readers' standardised scores; null without passages"
    )
    threshold: Real = Field(description="RINSE alone makes a hit from this score on")
    readers: tuple[ReaderBody, ...] = Field(description="the readers that the score stands on")
    uncovered: tuple[WindowBody, ...] = Field(
        description="stretches of the question that no source covers whole, the least covered first; "
        "without passages the question"
    )
    suggested_query: str | None = Field(description="what to fetch on a miss; null on a hit")
    passages: int = Field(description="passages scored", ge=0)


class DecisionsBody(Out):
    """Decisions on a batch, in its order."""

    decisions: tuple[DecisionBody, ...]
