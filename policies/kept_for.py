"""What passages were kept for is evidence: do they serve a new question as well?

A semantic cache serves what it holds for one question to any other that is similar enough, and so gives the
answer to another question. Here the evidence has its say too, by the IDF-weighted overlap of RINSE's content
reader (section 4). For a question q and passages E that were kept for the question n

    score(q, n, E) = 1 - (1 - cos(q, n)) exp(-2 a + 3 b)

where a is the share of q's IDF mass in pieces that n lacks and E holds, b that in pieces of q's names that
both lack. What sets q apart from n counts less as far as E speaks of it, and more where q names what nothing
here names. With a = b = 0 the score is the cosine. Both weights are round numbers near those of a logistic
regression. What it saves beside a plain cosine depends on the traffic: more where other questions about the
same passages come often, and no more where questions only come again in other words.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..tools.protocols import Reranker, WordPieces
from ..tools.types import Passage
from .names import names
from .rinse.content import passage_text, question_pieces
from .rinse.idf import PieceCounts

COVERED_WEIGHT: Final = 2.0
MISSING_WEIGHT: Final = 3.0


@dataclass(frozen=True, slots=True)
class KeptSet:
    """Passages, at least one, and the question that they were kept for: all that was kept for it."""

    question: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class KeptMatch:
    """How well what was kept for one question serves another.

    `cosine` of both questions, in [-1, 1]; `covered` is a and `uncovered` b, both in [0, 1]; `missing` are
    the names that make up b; `score` is at most 1.
    """

    kept: KeptSet
    cosine: float
    covered: float
    uncovered: float
    missing: tuple[str, ...]
    score: float
    threshold: float

    @property
    def serves(self) -> bool:
        """Whether the score reaches the threshold."""
        return self.score >= self.threshold


class KeptFor:
    """Matches a question with sets of passages by what each was kept for.

    `encoder` scores by the cosine of sentence embeddings; `counts` are the content reader's document
    frequencies.
    """

    def __init__(
        self, encoder: Reranker, wordpieces: WordPieces, counts: PieceCounts, threshold: float
    ) -> None:
        self._encoder = encoder
        self._wordpieces = wordpieces
        self._counts = counts
        self._threshold = threshold

    async def best(self, question: str, kept: Sequence[KeptSet]) -> KeptMatch | None:
        """The match of the highest score; None of nothing.

        Raises ModelOutputError where the encoder returns NaN.
        """
        if not kept:
            return None
        cosines = await self._encoder.score([question], [one.question for one in kept])
        matches = [self.match(question, one, float(c)) for one, c in zip(kept, cosines[0], strict=True)]
        return max(matches, key=lambda match: match.score)

    def match(self, question: str, kept: KeptSet, cosine: float) -> KeptMatch:
        """The match at a known cosine of the two questions."""
        pieces = question_pieces(self._wordpieces, question)
        known = set(question_pieces(self._wordpieces, kept.question))
        told = {piece for p in kept.passages for piece in self._wordpieces.pieces(passage_text(p))}
        lacking = {piece for piece in pieces if piece not in known | told}
        named = {name: lacking & set(self._wordpieces.pieces(name)) for name in names(question)}
        covered = self._share(pieces, told - known)
        uncovered = self._share(pieces, {piece for found in named.values() for piece in found})
        apart = max(0.0, 1.0 - cosine)
        score = 1.0 - apart * math.exp(MISSING_WEIGHT * uncovered - COVERED_WEIGHT * covered)
        missing = tuple(name for name, found in named.items() if found)
        return KeptMatch(kept, cosine, covered, uncovered, missing, score, self._threshold)

    def _share(self, pieces: Sequence[str], of: set[str]) -> float:
        """The share of the IDF mass of `pieces` that those in `of` have."""
        idf = self._counts.idf(pieces)
        total = float(idf.sum())
        return float(idf[[piece in of for piece in pieces]].sum()) / total if total else 0.0
