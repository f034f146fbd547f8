"""The content reader: is every part of the question covered somewhere in the evidence? (RINSE section 4)

The question is cut into windows of four word pieces. Every window keeps its best match with one *source*
under two measures, IDF-weighted overlap and the reranker's score. The quantiles of the two profiles over
windows are the features of a conditional-logistic head.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tools.errors import ModelOutputError
from ...tools.protocols import Reranker, WordPieces
from ...tools.types import Passage
from ..types import Reading, WindowCoverage
from .idf import PieceCounts

WINDOW = 4
STRIDE = 2
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
FEATURES = 2 * (len(QUANTILES) + 1)
# A question is read up to here: it bounds the windows that the reranker is asked about to 127.
MAX_PIECES = 256
_PROBE = (
    "Café Zürich's 1,234.50 unbelievably straightforward anti-inflammatory rerankers; ÆSIR's naïve façade, "
    "Πλάτων, Достоевский, 東京, e-mail@example.org, Llanfairpwllgwyngyll!"
)


def question_pieces(wordpieces: WordPieces, question: str) -> tuple[str, ...]:
    """The question's pieces, without punctuation: `?` ends every question and stands in hardly any passage.

    A question of nothing but punctuation keeps it, so that there is always a window.
    """
    pieces = wordpieces.pieces(question)[:MAX_PIECES]
    words = tuple(piece for piece in pieces if any(map(str.isalnum, piece)))
    return words or tuple(pieces)


def wordpieces_fingerprint(wordpieces: WordPieces) -> str:
    """Hash of how a fixed text is cut: tells vocabularies, casing and accent rules apart."""
    pieces = wordpieces.pieces(_PROBE)
    return hashlib.sha256("\n".join(pieces).encode()).hexdigest()


def window_spans(count: int) -> list[tuple[int, int]]:
    """[start, end) of every window over `count` pieces: four pieces, stride two.

    Fewer than four are one window. Where the stride leaves the last piece out, one more window ends at it.
    """
    if count <= WINDOW:
        return [(0, count)]
    starts = list(range(0, count - WINDOW + 1, STRIDE))
    if starts[-1] + WINDOW < count:
        starts.append(count - WINDOW)
    return [(start, start + WINDOW) for start in starts]


def window_texts(wordpieces: WordPieces, pieces: Sequence[str]) -> list[str]:
    """Every window over a question's pieces as readable text."""
    return [wordpieces.join(pieces[start:end]) for start, end in window_spans(len(pieces))]


def passage_text(passage: Passage) -> str:
    """Title and text, as every reader sees a passage."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def source_texts(passages: Sequence[Passage]) -> list[str]:
    """One text a source, in the order in which sources first occur.

    Chunks of one source are rejoined at their offsets (input order where they have none), under the title of
    the first. A passage without a source stands alone.
    """
    groups: dict[tuple[str, int], list[Passage]] = {}
    for position, passage in enumerate(passages):
        key = (passage.source, -1) if passage.source else ("", position)
        groups.setdefault(key, []).append(passage)
    return [_rejoined(chunks) for chunks in groups.values()]


def _rejoined(chunks: Sequence[Passage]) -> str:
    if len(chunks) == 1:
        return passage_text(chunks[0])
    offsets = [chunk.metadata.get("start") for chunk in chunks]
    if all(isinstance(offset, int | float) for offset in offsets):
        chunks = sorted(chunks, key=lambda chunk: float(chunk.metadata["start"]))
    title = next((chunk.title for chunk in chunks if chunk.title), "")
    return "\n".join([title] * bool(title) + [chunk.text for chunk in chunks])


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the backbones find, before any fitted number enters.

    `pieces`: the question's. `found[i, j]`: whether source j holds piece i; shape (pieces, sources).
    `relevance`: every window's best reranker score; shape (windows,).
    """

    pieces: tuple[str, ...]
    found: NDArray[np.bool_]
    relevance: NDArray[np.float64]

    def overlap(self, counts: PieceCounts) -> NDArray[np.float64]:
        """Every window's best IDF-weighted overlap with one source, in [0, 1]; shape (windows,)."""
        idf = counts.idf(self.pieces)
        best = [
            (idf[start:end] @ self.found[start:end]).max() / idf[start:end].sum()
            for start, end in window_spans(len(self.pieces))
        ]
        # The ratio of two sums of the same numbers may exceed 1 by a rounding error.
        return np.minimum(np.array(best, dtype=np.float64), 1.0)


async def cover(
    question: str, passages: Sequence[Passage], wordpieces: WordPieces, reranker: Reranker
) -> Coverage:
    """Match every window of `question` with every source among `passages` (at least one).

    Raises ModelOutputError where the reranker gives NaN or infinity.
    """
    pieces = question_pieces(wordpieces, question) or ("",)
    sources = source_texts(passages)
    held = [set(wordpieces.pieces(text)) for text in sources]
    found = np.array([[piece in source for source in held] for piece in pieces], dtype=np.bool_)
    scores = np.asarray(await reranker.score(window_texts(wordpieces, pieces), sources), dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ModelOutputError(
            "the reranker returned NaN or infinity for this question; check its weights and numeric type"
        )
    return Coverage(pieces, found, scores.max(axis=1))


def profile_features(overlap: NDArray[np.float64], relevance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quantiles and mean of both profiles over windows; shape (FEATURES,): overlap's first."""
    halves = [np.append(np.quantile(profile, QUANTILES), profile.mean()) for profile in (overlap, relevance)]
    return np.concatenate(halves)


@dataclass(frozen=True, slots=True)
class ContentModel:
    """What `fit` learns for the content reader.

    h(q, E) = weights · (features - center) / scale. `center` and `scale` are mean and standard deviation of
    the features over training records: the two measures differ in scale, and L2 is to weigh them alike.
    All three have shape (FEATURES,).
    """

    counts: PieceCounts
    weights: NDArray[np.float64]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]

    def raw(self, coverage: Coverage) -> float:
        """h_content(q, E): log-odds up to a constant of the group."""
        features = profile_features(coverage.overlap(self.counts), coverage.relevance)
        return float(self.weights @ ((features - self.center) / self.scale))


class ContentReader:
    """The content reader over its word pieces and reranker."""

    name = "content"

    def __init__(self, model: ContentModel, wordpieces: WordPieces, reranker: Reranker) -> None:
        self._model = model
        self._wordpieces = wordpieces
        self._reranker = reranker

    async def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """h_content with the coverage of every window. Raises ModelOutputError on NaN from the reranker."""
        coverage = await cover(question, passages, self._wordpieces, self._reranker)
        overlap = coverage.overlap(self._model.counts)
        texts = window_texts(self._wordpieces, coverage.pieces)
        windows = tuple(
            WindowCoverage(text, float(held), float(score))
            for text, held, score in zip(texts, overlap, coverage.relevance, strict=True)
        )
        return Reading(self._model.raw(coverage), windows)
