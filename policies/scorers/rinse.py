"""RINSE itself as a scorer, with the terms of its sum (RINSE section 4)."""

from collections.abc import Sequence

from ...tools.errors import InputError
from ...tools.types import Passage
from ..types import Sufficiency
from .types import Scored


class RinseScorer:
    """s(q, E) with every reader's standardised term, whatever readers the policy has."""

    name = "rinse"

    def __init__(self, sufficiency: Sufficiency) -> None:
        self._sufficiency = sufficiency

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The sum. Raises InputError without a passage, ModelOutputError on NaN."""
        report = await self._sufficiency.score(question, passages)
        if report.score is None:
            raise InputError("no passage to score")
        return Scored(report.score, {part.reader: part.standardised for part in report.readers})
