"""The joint reader: a question and all passages read together, to one score.

An encoder reads the question beside each passage; what it finds is fused across passages without regard to
their order, so that one passage's content bears on what another counts for.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import AutoModel, PreTrainedTokenizerBase

from ..errors import InputError, ModelOutputError
from ..models.compute import Device, resolve_device
from ..models.quiet import quiet
from ..models.tokenizers import load_tokenizer
from ..rerankers.cache import LruCache
from ..rerankers.worker import Worker
from .adapted import find, put_head, read
from .fusion import SLOTS, WIDTH, Fusion, Slots
from .windows import Unit, Windower, batches, tensors

CACHED_UNITS = 16_384  # about 2 KB each
Vectors = NDArray[np.float32]


class JointModel(nn.Module):
    """Encoder, slots and fusion."""

    def __init__(self, encoder: nn.Module, width: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.slots = Slots(width)
        self.fusion = Fusion()


class FusedJointReader:
    """A trained joint reader. Every question-passage pair is read once and remembered; fusing costs little.

    A passage longer than the encoder reads is cut into windows, of which the most sufficient one stands for
    it. Use `load` to make one.
    """

    def __init__(
        self,
        model: JointModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        fingerprint: str,
        max_tokens: int,
        device: str = "cpu",
        threads: int | None = None,
        batch_size: int = 16,
    ) -> None:
        self._model = model.to(device).eval()
        self._windower = Windower(tokenizer, max_tokens)
        self._pad = int(tokenizer.pad_token_id or 0)
        self._fingerprint = fingerprint
        self._device = device
        self._batch_size = batch_size
        self._cache: LruCache[Unit, Vectors] = LruCache(CACHED_UNITS)
        self._worker = Worker(threads)

    @classmethod
    def load(
        cls, model: str, *, device: Device = "auto", threads: int | None = None, batch_size: int = 16
    ) -> Self:
        """Load a packaged reader's name or a trained reader's folder.

        Raises InputError where there is none, ArtifactError for a damaged one or one over another encoder,
        ModelMissing where the encoder is not here.
        """
        folder = find(model)
        if folder is None:
            raise InputError(
                f"no trained joint reader at {model}; make one with: sufficit train-reader joint"
            )
        weights = read(folder, "joint")
        with quiet():
            encoder = AutoModel.from_pretrained(weights.base, dtype=torch.float32)
        weights.apply(encoder)
        whole = JointModel(encoder, int(encoder.config.hidden_size))
        put_head(whole, weights)
        return cls(
            whole,
            load_tokenizer(weights.base),
            fingerprint=weights.fingerprint,
            max_tokens=weights.reader.max_tokens,
            device=resolve_device(device),
            threads=threads,
            batch_size=batch_size,
        )

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer, stored in artifacts."""
        return self._fingerprint

    async def sufficiency(self, question: str, texts: Sequence[str]) -> float:
        """How sufficient `texts` (at least one) are together for `question`; the same in every order.

        A logit up to a constant: only differences mean something. Raises ModelOutputError where the model
        returns NaN or infinity.
        """
        return await self._worker.run(lambda: self._score([(question, text) for text in texts]))

    def _score(self, units: Sequence[Unit]) -> float:
        slots = self._cache.through(units, self._slots)
        parts = [slots[unit] for unit in units]
        # Sums over passages round by their order; a fixed order makes the score exactly the same for all.
        stacked = np.concatenate(sorted(parts, key=lambda part: part.tobytes()))
        score = float(self._fused(stacked[None])[0])
        if not np.isfinite(score):
            raise ModelOutputError("the joint reader returned NaN or infinity; check the model's weights")
        return score

    @torch.inference_mode()
    def _slots(self, units: Sequence[Unit]) -> list[Vectors]:
        """Every unit's slots, shape (SLOTS, WIDTH): of its window that is most sufficient alone.

        So a long passage counts as one passage, as in training, and not as many.
        """
        windows = self._windower.windows(units)
        slots = np.empty((len(windows), SLOTS, WIDTH), np.float32)
        for batch in batches(windows, self._batch_size):
            inputs = tensors([windows[place] for place in batch], self._device, self._pad)
            states = self._model.encoder(**inputs).last_hidden_state.float()
            slots[batch] = self._model.slots(states, inputs["attention_mask"]).cpu().numpy()
        owners = np.array([window.owner for window in windows])
        alone = self._fused(slots) if len(windows) > len(units) else np.zeros(len(windows))
        places = (np.flatnonzero(owners == unit) for unit in range(len(units)))
        return [slots[own[np.argmax(alone[own])]] for own in places]

    @torch.inference_mode()
    def _fused(self, slots: Vectors) -> Vectors:
        """Scores of sets of equal size, given by their slots (sets, slots of a set, WIDTH); shape (sets,)."""
        joined = torch.from_numpy(slots).to(self._device)
        scores: Vectors = (
            self._model.fusion(joined, torch.ones(joined.shape[:2], device=self._device)).cpu().numpy()
        )
        return scores
