"""A sentence encoder as reranker: the cosine of embeddings, pooled as its folder says.

Every distinct text is encoded once and remembered. A text longer than the model reads is cut into
overlapping windows, and its score is that of its best window.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForTextEncoding,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from ..errors import CapabilityError, ModelOutputError
from ..models.compute import Device, resolve_device
from ..models.fingerprint import fingerprint
from ..models.quiet import quiet
from ..models.resolve import resolve
from ..models.tokenizers import load_tokenizer
from .cache import LruCache
from .encoding import Encodings, batches, longest_input, pad
from .head import SentenceHead, is_classifier, load_head, transformer_of
from .vocabulary import whole_words
from .worker import Worker

CACHED_TEXTS = 65_536  # about 100 MB at 384 dimensions
Vectors = NDArray[np.float32]


class BiEncoderReranker:
    """Cosine similarity of every query with every text, in [-1, 1].

    `max_tokens` is the longest window with special tokens; `head` pools by mean if left out. `load` makes one
    from a model folder.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        fingerprint: str,
        max_tokens: int,
        head: SentenceHead | None = None,
        device: str = "cpu",
        threads: int | None = None,
        batch_size: int = 32,
        cached_texts: int = CACHED_TEXTS,
    ) -> None:
        module: torch.nn.Module = model
        self._model = module.to(device).eval()
        head = head or SentenceHead(("mean",), [], int(model.config.hidden_size))
        self._head = head.to(device).eval()
        self._width = head.width
        self._tokenizer = tokenizer
        self._fingerprint = fingerprint
        self._max_tokens = max_tokens
        self._device = device
        self._batch_size = batch_size
        self._cache: LruCache[str, Vectors] = LruCache(cached_texts)
        self._worker = Worker(threads)

    @classmethod
    def load(
        cls,
        model: str,
        *,
        device: Device = "auto",
        threads: int | None = None,
        batch_size: int = 32,
        dtype: torch.dtype = torch.float32,
    ) -> Self:
        """Load a catalogue name, folder or hub name: plain, or as sentence-transformers saves it.

        The transformer computes in `dtype`, all that follows in float32.

        Raises ModelMissing where it is not on this machine, CapabilityError where it has modules beside a
        transformer, poolings, dense layers and norms, or is a classifier, whose embeddings mean nothing.
        """
        folder = resolve(model)
        body = transformer_of(folder)
        with quiet():
            config = AutoConfig.from_pretrained(body)
            if is_classifier(config):
                raise CapabilityError(f"{model} is a cross-encoder; what is wanted here encodes single texts")
            head = load_head(folder, int(config.hidden_size))
            # Of an encoder-decoder the encoder.
            family = AutoModelForTextEncoding if config.is_encoder_decoder else AutoModel
            encoder = family.from_pretrained(body, dtype=dtype)
            tokenizer = load_tokenizer(body)
        return cls(
            encoder,
            tokenizer,
            fingerprint=_fingerprint(body, head),
            max_tokens=longest_input(body, tokenizer, encoder.config),
            head=head,
            device=resolve_device(device),
            threads=threads,
            batch_size=batch_size,
        )

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer, stored in artifacts."""
        return self._fingerprint

    @property
    def width(self) -> int:
        """Dimensions of an embedding."""
        return self._width

    def words(self) -> frozenset[str]:
        """What its tokenizer holds as one piece and not as part of a word, as text; milliseconds."""
        return whole_words(self._tokenizer)

    def embed(self, texts: Sequence[str]) -> list[Vectors]:
        """For each text the embeddings of its windows, float32 rows of length 1, shape (windows, width).

        Blocking, from any thread; nothing is remembered. Raises ModelOutputError where the model returns NaN.
        """
        return self._worker.wait(lambda: self._encode(list(texts))) if texts else []

    async def score(self, queries: Sequence[str], texts: Sequence[str]) -> Vectors:
        """Cosines, float32, shape (queries, texts). Raises ModelOutputError where the model returns NaN."""
        if not queries or not texts:
            return np.zeros((len(queries), len(texts)), np.float32)
        vectors = await self.remembered([*queries, *texts])
        return best_cosines(vectors[: len(queries)], vectors[len(queries) :])

    async def remembered(self, texts: Sequence[str]) -> list[Vectors]:
        """As `embed`, without encoding a text that it remembers."""

        def found() -> list[Vectors]:
            vectors = self._cache.through(texts, self._encode)
            return [vectors[text] for text in texts]

        return await self._worker.run(found)

    def _encode(self, texts: list[str]) -> list[Vectors]:
        """One array (windows, width) of unit rows for each text."""
        windows = self._tokenizer(
            texts,
            truncation=True,
            max_length=self._max_tokens,
            stride=self._max_tokens // 4,
            return_overflowing_tokens=True,
        )
        vectors = np.empty((len(windows["input_ids"]), self._width), np.float32)
        for batch in batches(windows, self._batch_size):
            vectors[batch] = self._embed(windows, batch)
        if not np.isfinite(vectors).all():
            raise ModelOutputError("the bi-encoder returned NaN or infinity; check the model's weights")
        owners = np.asarray(windows["overflow_to_sample_mapping"])
        return np.split(vectors, np.flatnonzero(np.diff(owners)) + 1)

    @torch.inference_mode()
    def _embed(self, windows: Encodings, batch: list[int]) -> Vectors:
        inputs = pad(self._tokenizer, windows, batch, self._device)
        states = self._model(**inputs).last_hidden_state
        vectors = self._head(states.float(), inputs["attention_mask"])
        unit: Vectors = torch.nn.functional.normalize(vectors, dim=-1).cpu().numpy()
        return unit


def best_cosines(queries: Sequence[Vectors], texts: Sequence[Vectors]) -> Vectors:
    """Of every query and text, given by the unit rows of their windows, the largest cosine of two windows.

    Float32, shape (queries, texts).
    """
    query_rows, query_starts = _stack(queries)
    text_rows, text_starts = _stack(texts)
    best = np.maximum.reduceat(query_rows @ text_rows.T, text_starts, axis=1)
    return np.asarray(np.maximum.reduceat(best, query_starts, axis=0), np.float32)


def _stack(vectors: Sequence[Vectors]) -> tuple[Vectors, NDArray[np.intp]]:
    """All rows below each other, and the row at which each text begins."""
    starts = np.cumsum([0, *(len(rows) for rows in vectors[:-1])]).astype(np.intp)
    return np.concatenate(vectors), starts


def _fingerprint(body: Path, head: SentenceHead) -> str:
    """That of the weights and tokenizer, and of a head that is more than the mean."""
    of_body = fingerprint(body)
    if head.plain:
        return of_body
    digest = hashlib.sha256(of_body.encode())
    for part in head.digest_parts():
        digest.update(part)
    return digest.hexdigest()
