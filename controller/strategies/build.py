"""From a pipeline's name to the pipeline."""

from collections.abc import Callable, Mapping
from typing import Final

from ...tools.errors import UsageError
from ...tools.protocols import Retriever
from .clehe import CLeHe
from .dtr import DTR
from .flare import FLARE
from .ircot import IRCoT
from .rag import VanillaRAG
from .short_answers import ShortAnswers
from .strategy import Strategy

PIPELINES: Final[Mapping[str, Callable[[Retriever, ShortAnswers, int], Strategy]]] = {
    "rag": VanillaRAG,
    "ircot": IRCoT,
    "flare": FLARE,
    "clehe": CLeHe,
    "dtr": DTR,
}
"""The pipelines of TrustMargin section 4.2 by name."""


def build_strategy(name: str, retriever: Retriever, answers: ShortAnswers, passages: int) -> Strategy:
    """The pipeline of this name, reading at most `passages` passages. Raises UsageError for another name."""
    if name not in PIPELINES:
        raise UsageError(f"there is no pipeline {name!r}; choose one of {', '.join(PIPELINES)}")
    return PIPELINES[name](retriever, answers, passages)
