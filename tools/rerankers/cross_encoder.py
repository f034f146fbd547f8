"""A cross-encoder as reranker: query and text read together by a sequence classifier.

No pair is computed twice while it is remembered. A text longer than the model reads beside the query is cut
into overlapping windows, and its score is that of its best window.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForSequenceClassification, PreTrainedModel, PreTrainedTokenizerBase

from ..errors import CapabilityError, ModelOutputError
from ..models.compute import Device, resolve_device
from ..readers.adapted import load_adapted
from .cache import LruCache
from .encoding import Encodings, batches, pad
from .worker import Worker

CACHED_PAIRS = 262_144
Pair = tuple[str, str]


class CrossEncoderReranker:
    """The relevance logit of every query with every text.

    The model has one logit, or two of which the last stands for *relevant*. `max_tokens` is the longest input
    with special tokens; a query may take half of it. Use `load` to make one from a model folder.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        fingerprint: str,
        max_tokens: int,
        device: str = "cpu",
        threads: int | None = None,
        batch_size: int = 32,
        cached_pairs: int = CACHED_PAIRS,
    ) -> None:
        if model.config.num_labels not in (1, 2):
            raise CapabilityError(
                f"the cross-encoder has {model.config.num_labels} labels; a reranker has one or two"
            )
        module: torch.nn.Module = model
        self._model = module.to(device).eval()
        self._tokenizer = tokenizer
        self._fingerprint = fingerprint
        self._max_tokens = max_tokens
        self._device = device
        self._batch_size = batch_size
        self._cache: LruCache[Pair, float] = LruCache(cached_pairs)
        self._worker = Worker(threads)

    @classmethod
    def load(
        cls, model: str, *, device: Device = "auto", threads: int | None = None, batch_size: int = 32
    ) -> Self:
        """Load a transformers folder or a hub name.

        Raises ModelMissing where it is not on this machine, CapabilityError for more than two labels,
        ArtifactError for a trained reader, of which none is a cross-encoder.
        """
        classifier, tokenizer, fingerprint, longest = load_adapted(
            model, "cross-encoder", AutoModelForSequenceClassification, labels=1
        )
        return cls(
            classifier,
            tokenizer,
            fingerprint=fingerprint,
            max_tokens=longest,
            device=resolve_device(device),
            threads=threads,
            batch_size=batch_size,
        )

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer, stored in artifacts."""
        return self._fingerprint

    async def score(self, queries: Sequence[str], texts: Sequence[str]) -> NDArray[np.float32]:
        """Logits, float32, shape (queries, texts). Raises ModelOutputError where the model returns NaN."""
        if not queries or not texts:
            return np.zeros((len(queries), len(texts)), np.float32)
        return await self._worker.run(lambda: self._score(queries, texts))

    def _score(self, queries: Sequence[str], texts: Sequence[str]) -> NDArray[np.float32]:
        pairs = [(query, text) for query in queries for text in texts]
        logits = self._cache.through(pairs, self._logits)
        return np.array([logits[pair] for pair in pairs], np.float32).reshape(len(queries), len(texts))

    def _logits(self, pairs: Sequence[Pair]) -> list[float]:
        cut = {query: self._cut(query) for query in {query for query, _ in pairs}}
        windows = self._tokenizer(
            [cut[query] for query, _ in pairs],
            [text for _, text in pairs],
            truncation="only_second",
            max_length=self._max_tokens,
            stride=self._max_tokens // 8,
            return_overflowing_tokens=True,
        )
        logits = np.empty(len(windows["input_ids"]), np.float32)
        for batch in batches(windows, self._batch_size):
            logits[batch] = self._forward(windows, batch)
        if not np.isfinite(logits).all():
            raise ModelOutputError("the cross-encoder returned NaN or infinity; check the model's weights")
        starts = np.flatnonzero(np.diff(windows["overflow_to_sample_mapping"], prepend=-1))
        return [float(logit) for logit in np.maximum.reduceat(logits, starts)]

    def _cut(self, query: str) -> str:
        """The query's beginning, at most half of what the model reads."""
        encoded = self._tokenizer(query, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        offsets = encoded["offset_mapping"][: self._max_tokens // 2]
        return query[: offsets[-1][1]] if offsets else query

    @torch.inference_mode()
    def _forward(self, windows: Encodings, batch: list[int]) -> NDArray[np.float32]:
        inputs = pad(self._tokenizer, windows, batch, self._device)
        logits: NDArray[np.float32] = self._model(**inputs).logits[:, -1].float().cpu().numpy()
        return logits
