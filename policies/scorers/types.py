"""What a scorer is: a number for a question and its passages, higher where the evidence suffices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...tools.types import Passage


@dataclass(frozen=True, slots=True)
class Scored:
    """One record's score.

    `terms` are the parts of a sum where the score is one: RINSE's standardised readers. `note` says what
    should be known about the score, such as passages that did not fit into the prompt.
    """

    value: float
    terms: Mapping[str, float] = field(default_factory=dict)
    note: str = ""


class Scorer(Protocol):
    """Scores sufficiency. It sees neither the label nor the other side of a pair.

    Calls may run concurrently: the models behind it batch them.
    """

    @property
    def name(self) -> str:
        """The name by which the command line knows it."""
        ...

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The score of at least one passage.

        Raises InputError where the record cannot be read whole, ModelOutputError where a model returns NaN.
        """
        ...
