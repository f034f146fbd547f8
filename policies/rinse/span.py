"""The span reader: does any passage hold text that a reader prefers to *no answer*? (RINSE section 4)"""

from collections.abc import Sequence

import numpy as np

from ...tools.errors import ModelOutputError
from ...tools.protocols import SpanReader
from ...tools.types import Passage
from ..types import Reading
from .content import passage_text


async def best_margin(question: str, passages: Sequence[Passage], reader: SpanReader) -> float:
    """h_span(q, E): the largest margin over passages (at least one) and their windows.

    Raises ModelOutputError where the reader gives NaN or infinity.
    """
    margins = np.asarray(await reader.margins(question, [passage_text(passage) for passage in passages]))
    if not np.isfinite(margins).all():
        raise ModelOutputError("the span reader returned NaN or infinity; check its weights and numeric type")
    return float(margins.max())


class AnswerSpanReader:
    """The span reader over its extractive model."""

    name = "span"

    def __init__(self, reader: SpanReader) -> None:
        self._reader = reader

    async def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """h_span. Raises ModelOutputError on NaN from the model."""
        return Reading(await best_margin(question, passages, self._reader))
