"""A trained reranker: cosines of a sentence encoder's vectors after one linear map, learned from relevance.

The encoder stays as it is, so that a text is encoded once for this reranker and for whatever compares whole
texts, and a map costs next to nothing beside it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import nn

from ..models.compute import Device
from ..readers.adapted import find, put_head, read
from .biencoder import BiEncoderReranker, Vectors, best_cosines

KIND = "reranker"


class Projection(nn.Module):
    """The map, square, and rows of length 1 after it. It begins as the identity."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.project.weight)

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Shape (..., width) to the same."""
        return nn.functional.normalize(self.project(vectors), dim=-1)


class ProjectedReranker:
    """Scores in [-1, 1]; a long text's or query's is that of its best window. Use `load` to make one."""

    def __init__(self, encoder: BiEncoderReranker, projection: Projection, *, fingerprint: str) -> None:
        self._encoder = encoder
        self._matrix: Vectors = projection.project.weight.detach().float().cpu().numpy().T.copy()
        self._fingerprint = fingerprint

    @classmethod
    def load(cls, model: str, *, device: Device = "auto", threads: int | None = None) -> Self:
        """Load a packaged reader's name or a trained reader's folder.

        Raises ArtifactError for a damaged one or one over another encoder, ModelMissing where the encoder is
        not here.
        """
        weights = read(find(model) or Path(model), KIND)
        encoder = BiEncoderReranker.load(weights.reader.encoder, device=device, threads=threads)
        projection = Projection(encoder.width)
        put_head(projection, weights)
        return cls(encoder, projection, fingerprint=weights.fingerprint)

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer, stored in artifacts."""
        return self._fingerprint

    @property
    def encoder(self) -> BiEncoderReranker:
        """The sentence encoder under it, whose cosines are those before the map."""
        return self._encoder

    async def score(self, queries: Sequence[str], texts: Sequence[str]) -> Vectors:
        """Scores, float32, shape (queries, texts). Raises ModelOutputError where the model returns NaN."""
        if not queries or not texts:
            return np.zeros((len(queries), len(texts)), np.float32)
        projected = [self._project(rows) for rows in await self._encoder.remembered([*queries, *texts])]
        return best_cosines(projected[: len(queries)], projected[len(queries) :])

    def _project(self, rows: Vectors) -> Vectors:
        mapped = rows @ self._matrix
        unit: Vectors = mapped / np.maximum(np.linalg.norm(mapped, axis=1, keepdims=True), 1e-12)
        return unit
