"""What the frozen backbones see in a record, before anything is fitted. Measured once, then cached."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...tools.protocols import Encoder, JointReader, Reranker, SpanReader, WordPieces
from ...tools.types import Passage, Prompt
from .artifact import Backbone
from .cache import Content, FeatureCache, content_key
from .content import MAX_PIECES, STRIDE, WINDOW, Coverage, cover, wordpieces_fingerprint
from .joint import MOST_PASSAGES, joint_score
from .latent import LatentPrompt, latent_prompt, unit_states
from .records import ContrastRecord
from .span import best_margin


class Learned(Protocol):
    """What a trained reader has learned from: its scores there are better than on anything else."""

    @property
    def families(self) -> frozenset[str]:
        """The families that gave it questions."""
        ...

    def holds(self, record: ContrastRecord) -> bool:
        """Whether the record's question may have been among them."""
        ...


@dataclass(frozen=True, slots=True)
class Backbones:
    """The frozen models under the readers. Without `encoder` there is no latent reader, and so with others.

    `names` maps `wordpieces`, `reranker`, `encoder`, `span` and `joint` to the names that the models were
    loaded by. `learned` maps `reranker`, `span` and `joint` to what these were trained on.
    """

    wordpieces: WordPieces
    reranker: Reranker
    encoder: Encoder | None
    names: Mapping[str, str]
    span: SpanReader | None = None
    joint: JointReader | None = None
    learned: Mapping[str, Learned] = field(default_factory=dict)

    def described(self) -> dict[str, Backbone]:
        """Every part's name and fingerprint, as an artifact stores them."""
        prints = {
            "wordpieces": wordpieces_fingerprint(self.wordpieces),
            "reranker": self.reranker.fingerprint,
        }
        for part, model in (("encoder", self.encoder), ("span", self.span), ("joint", self.joint)):
            if model:
                prints[part] = model.fingerprint
        return {part: Backbone(self.names[part], value) for part, value in prints.items()}


class Measurer:
    """Measures records by the backbones, through the cache."""

    def __init__(self, backbones: Backbones, cache: FeatureCache) -> None:
        self._backbones = backbones
        self._cache = cache
        self._prints = {part: model.fingerprint for part, model in backbones.described().items()}

    @property
    def encoder(self) -> Encoder | None:
        """The latent reader's model, if there is one."""
        return self._backbones.encoder

    @property
    def learned(self) -> Mapping[str, Learned]:
        """What the trained readers have learned from."""
        return self._backbones.learned

    def pieces(self, text: str) -> list[str]:
        """The word pieces of a passage."""
        return self._backbones.wordpieces.pieces(text)

    async def coverage(self, question: str, passages: Sequence[Passage]) -> Coverage:
        """What the content reader's backbones find. Raises ModelOutputError on NaN."""
        prints = (self._prints["wordpieces"], self._prints["reranker"], WINDOW, STRIDE, MAX_PIECES)
        key = content_key("content", prints, question, _content(passages))
        stored = self._cache.get(key)
        if stored is None:
            parts = self._backbones
            found = await cover(question, passages, parts.wordpieces, parts.reranker)
            stored = {"pieces": np.array(found.pieces), "found": found.found, "relevance": found.relevance}
            self._cache.put(key, stored)
        pieces = tuple(map(str, stored["pieces"]))
        return Coverage(pieces, stored["found"].astype(np.bool_), stored["relevance"].astype(np.float64))

    async def states(
        self, encoder: Encoder, question: str, passages: Sequence[Passage], prompt: LatentPrompt
    ) -> NDArray[np.float32]:
        """Unit-length final-token states of all layers, shape (depth + 1, width).

        Two records that come to the same prompt, as a padded one often does, are read once.
        """
        text = await self._latent_prompt(encoder, question, passages, prompt)
        key = content_key("states", self._prints["encoder"], text.text, text.style)
        stored = self._cache.get(key)
        if stored is None:
            stored = {"states": await unit_states(encoder, text, range(encoder.depth + 1))}
            self._cache.put(key, stored)
        return stored["states"].astype(np.float32)

    async def raws(self, record: ContrastRecord) -> dict[str, float]:
        """Raw scores of the trained readers, by reader, but of those that have learned from the record."""
        span, joint, reranker = self._backbones.span, self._backbones.joint, self._backbones.reranker
        question, passages = record.question, record.passages
        known = {reader for reader, learned in self.learned.items() if learned.holds(record)}
        found: dict[str, float] = {}
        if span and "span" not in known:
            key = content_key("span", self._prints["span"], question, _content(passages))
            found["span"] = await self._number(key, lambda: best_margin(question, passages, span))
        if joint and "joint" not in known:
            prints = (self._prints["joint"], self._prints["reranker"], MOST_PASSAGES)
            key = content_key("joint, best windows", prints, question, _content(passages))
            found["joint"] = await self._number(key, lambda: joint_score(question, passages, joint, reranker))
        return found

    async def _number(self, key: str, measure: Callable[[], Awaitable[float]]) -> float:
        stored = self._cache.get(key)
        if stored is None:
            stored = {"raw": np.array(await measure())}
            self._cache.put(key, stored)
        return float(stored["raw"].astype(np.float64))

    async def _latent_prompt(
        self, encoder: Encoder, question: str, passages: Sequence[Passage], prompt: LatentPrompt
    ) -> Prompt:
        """The record's prompt; cached too, for it rests on the reranker."""
        prints = (self._prints["encoder"], self._prints["reranker"])
        wording = repr(astuple(prompt))
        key = content_key("prompt", prints, wording, question, _content(passages))
        stored = self._cache.get(key)
        if stored is None:
            text = await latent_prompt(question, passages, prompt, encoder, self._backbones.reranker)
            stored = {"text": np.frombuffer(text.text.encode(), dtype=np.uint8)}
            self._cache.put(key, stored)
        return Prompt(stored["text"].tobytes().decode(), prompt.style)


def _content(passages: Sequence[Passage]) -> Content:
    return [[p.source, p.title, p.text, p.metadata.get("start")] for p in passages]
