"""A fixed sample whose scores a trained reader carries: whoever loads it can see that it reads as it did."""

import asyncio
from pathlib import Path
from typing import Literal

from ....tools.readers.joint import FusedJointReader
from ....tools.readers.span import ExtractiveSpanReader
from ....tools.rerankers.projected import ProjectedReranker

SAMPLE: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Who built the mill in Arden?",
        (
            "Arden Mill\nThe mill in Arden was built in 1820 by Orla Quist, who also built the old bridge.",
            "Belmar\nBelmar is a town on the river Fenn. Its market is held on Fridays.",
        ),
    ),
    (
        "Who built the lighthouse in Arden?",
        (
            "Arden Mill\nThe mill in Arden was built in 1820 by Orla Quist, who also built the old bridge.",
            "Belmar\nBelmar is a town on the river Fenn. Its market is held on Fridays.",
        ),
    ),
    (
        "On which river lies the birthplace of the painter Dov Lind?",
        (
            "Dov Lind\nDov Lind (1902-1971) was a painter of harbours. He was born in Belmar.",
            "Belmar\nBelmar is a town on the river Fenn. Its market is held on Fridays.",
        ),
    ),
)
"""Questions with passages, all invented."""


def sample_scores(kind: Literal["span", "reranker", "joint"], folder: Path) -> list[list[float]]:
    """The reader's scores on `SAMPLE`, a row for each question: of every passage, or (`joint`) of the set.

    Raises as the reader's `load`.
    """
    return asyncio.run(_scores(kind, str(folder)))


async def _scores(kind: Literal["span", "reranker", "joint"], folder: str) -> list[list[float]]:
    if kind == "joint":
        joint = FusedJointReader.load(folder, device="cpu")
        return [[await joint.sufficiency(question, texts)] for question, texts in SAMPLE]
    if kind == "span":
        span = ExtractiveSpanReader.load(folder, device="cpu")
        return [(await span.margins(question, texts)).tolist() for question, texts in SAMPLE]
    reranker = ProjectedReranker.load(folder, device="cpu")
    return [(await reranker.score([question], texts))[0].tolist() for question, texts in SAMPLE]
