"""The extractive reader: how much better than *no answer* the best span of a passage is. (RINSE section 4)"""

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForQuestionAnswering, PreTrainedModel, PreTrainedTokenizerBase

from ..errors import ModelOutputError
from ..models.compute import Device, resolve_device
from ..rerankers.cache import LruCache
from ..rerankers.worker import Worker
from .adapted import load_adapted
from .windows import Unit, Window, Windower, batches, tensors

MAX_SPAN_TOKENS = 30
CACHED_UNITS = 65_536


class ExtractiveSpanReader:
    """Any question-answering model whose first token stands for *no answer*.

    `max_tokens` is the longest input; longer passages are read in overlapping windows. Use `load` to make
    one.
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
        batch_size: int = 16,
    ) -> None:
        module: torch.nn.Module = model
        self._model = module.to(device).eval()
        self._windower = Windower(tokenizer, max_tokens)
        self._pad = int(tokenizer.pad_token_id or 0)
        self._fingerprint = fingerprint
        self._device = device
        self._batch_size = batch_size
        self._cache: LruCache[Unit, float] = LruCache(CACHED_UNITS)
        self._worker = Worker(threads)

    @classmethod
    def load(
        cls, model: str, *, device: Device = "auto", threads: int | None = None, batch_size: int = 16
    ) -> Self:
        """Load a packaged reader's name, a trained reader's folder, a transformers folder or a hub name.

        Raises ArtifactError for a damaged reader or one over another encoder, ModelMissing.
        """
        loaded, tokenizer, fingerprint, longest = load_adapted(
            model, "span", AutoModelForQuestionAnswering, labels=2
        )
        return cls(
            loaded,
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

    async def margins(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Every text's best legal span logit minus its no-answer logit; float32, shape (texts,).

        A span starts and ends inside the text, in this order, within 30 tokens; of several windows the best
        margin counts. Raises ModelOutputError where the model returns NaN or infinity.
        """
        return await self._worker.run(lambda: self._margins([(question, text) for text in texts]))

    def _margins(self, units: Sequence[Unit]) -> NDArray[np.float32]:
        margins = self._cache.through(units, self._read)
        return np.array([margins[unit] for unit in units], np.float32)

    def _read(self, units: Sequence[Unit]) -> list[float]:
        windows = self._windower.windows(units)
        best = np.full(len(units), -np.inf, np.float32)
        for batch in batches(windows, self._batch_size):
            chosen = [windows[place] for place in batch]
            margins = self._forward(chosen)
            if not np.isfinite(margins).all():
                raise ModelOutputError("the span reader returned NaN or infinity; check the model's weights")
            np.maximum.at(best, [window.owner for window in chosen], margins)
        return best.tolist()

    @torch.inference_mode()
    def _forward(self, windows: Sequence[Window]) -> NDArray[np.float32]:
        inputs = tensors(windows, self._device, self._pad)
        output = self._model(**inputs)
        starts, ends = output.start_logits.float(), output.end_logits.float()
        margins: NDArray[np.float32] = span_margins(starts, ends, windows).cpu().numpy()
        return margins


def span_margins(starts: torch.Tensor, ends: torch.Tensor, windows: Sequence[Window]) -> torch.Tensor:
    """max over legal spans of start + end, minus the first token's start + end; shape (windows,).

    `starts` and `ends` have shape (windows, tokens). A window that holds nothing of its passage has only the
    first token, and margin 0.
    """
    margins = torch.zeros(len(windows), device=starts.device)
    for row, window in enumerate(windows):
        size = len(window.offsets)
        if not size:
            continue
        inside = slice(window.first, window.first + size)
        spans = starts[row, inside, None] + ends[row, None, inside]
        legal = torch.ones(size, size, dtype=torch.bool, device=spans.device).triu().tril(MAX_SPAN_TOKENS - 1)
        best = spans.masked_fill(~legal, float("-inf")).max()
        margins[row] = best - (starts[row, 0] + ends[row, 0])
    return margins
