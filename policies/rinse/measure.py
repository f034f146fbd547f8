"""What the frozen backbones see in a record, before anything is fitted. Measured once, then cached."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from ...tools.protocols import Encoder, Reranker, WordPieces
from ...tools.types import Passage, Prompt
from .artifact import Backbone
from .cache import Content, FeatureCache, content_key
from .content import MAX_PIECES, STRIDE, WINDOW, Coverage, cover, wordpieces_fingerprint
from .latent import LatentPrompt, latent_prompt, unit_states


@dataclass(frozen=True, slots=True)
class Backbones:
    """The frozen models under the readers. Without `encoder` there is no latent reader.

    `names` maps `wordpieces`, `reranker` and `encoder` to the names that the models were loaded by.
    """

    wordpieces: WordPieces
    reranker: Reranker
    encoder: Encoder | None
    names: Mapping[str, str]

    def described(self) -> dict[str, Backbone]:
        """Every part's name and fingerprint, as an artifact stores them."""
        prints = {
            "wordpieces": wordpieces_fingerprint(self.wordpieces),
            "reranker": self.reranker.fingerprint,
        }
        if self.encoder:
            prints["encoder"] = self.encoder.fingerprint
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
