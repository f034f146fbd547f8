import math

import numpy as np
import pytest
from sufficit.policies.similarity import SimilarityGate
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.types import Passage

PASSAGES = [Passage("1", "Ada was born in Oslo."), Passage("2", "Snow.")]


class Cosines:
    fingerprint = "cosines"

    def __init__(self, *values):
        self.values = values

    async def score(self, queries, texts):
        return np.array([self.values[: len(texts)]])


async def test_the_best_passage_decides():
    report = await SimilarityGate(Cosines(0.7, 0.2), 0.7).score("Where was Ada born?", PASSAGES)
    assert (report.score, report.threshold, report.sufficient, report.passages) == (0.7, 0.7, True, 2)
    assert not (await SimilarityGate(Cosines(0.7, 0.2), 0.71).score("Where?", PASSAGES)).sufficient


async def test_no_evidence_never_suffices():
    assert not (await SimilarityGate(Cosines(), -1.0).score("Where?", [])).sufficient


async def test_a_broken_model_is_named():
    with pytest.raises(ModelOutputError):
        await SimilarityGate(Cosines(math.nan, 0.1), 0.5).score("Where?", PASSAGES)
