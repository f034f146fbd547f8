"""A sequence classifier's logits over windows of what it can read."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import (
    AutoModelForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from ..errors import ModelOutputError
from ..models.compute import Device, resolve_device
from ..models.fingerprint import fingerprint
from ..models.quiet import quiet
from ..models.resolve import resolve
from ..models.tokenizers import load_tokenizer
from ..rerankers.encoding import Encodings, batches, longest_input, pad
from ..rerankers.worker import Worker

_BATCH = 32


class SequenceClassifier:
    """Any `AutoModelForSequenceClassification` with its tokenizer, on a worker thread.

    `max_tokens` is its longest input with special tokens. Use `load` to make one from a model folder.
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
    ) -> None:
        module: torch.nn.Module = model
        self._model = module.to(device).eval()
        self._device = device
        self._worker = Worker(threads)
        self.tokenizer: Any = tokenizer
        self.fingerprint = fingerprint
        self.max_tokens = max_tokens
        self.labels: dict[str, int] = {str(name): int(i) for i, name in (model.config.id2label or {}).items()}

    @classmethod
    def load(cls, model: str, *, device: Device = "auto", threads: int | None = None) -> Self:
        """Load a folder or hub name. Raises ModelMissing where it is not on this machine."""
        folder = resolve(model)
        with quiet():
            classifier = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
            tokenizer = load_tokenizer(folder)
        return cls(
            classifier,
            tokenizer,
            fingerprint=fingerprint(folder),
            max_tokens=longest_input(folder, tokenizer, classifier.config),
            device=resolve_device(device),
            threads=threads,
        )

    async def logits(self, windows: Encodings) -> NDArray[np.float32]:
        """Logits, shape (windows, labels). Raises ModelOutputError where one is not finite."""
        return await self._worker.run(lambda: self._logits(windows))

    def _logits(self, windows: Encodings) -> NDArray[np.float32]:
        found = np.empty((len(windows["input_ids"]), len(self.labels)), np.float32)
        for batch in batches(windows, _BATCH):
            found[batch] = self._forward(windows, batch)
        if not np.isfinite(found).all():
            raise ModelOutputError("the classifier returned NaN or infinity; check the model's weights")
        return found

    @torch.inference_mode()
    def _forward(self, windows: Encodings, batch: Sequence[int]) -> NDArray[np.float32]:
        inputs = pad(self.tokenizer, windows, batch, self._device)
        logits: NDArray[np.float32] = self._model(**inputs).logits.float().cpu().numpy()
        return logits
