"""An entailment classifier, such as mDeBERTa-v3-base fine-tuned on NLI (RINSE Appendix A)."""

from collections.abc import Sequence

import numpy as np

from ..errors import CapabilityError
from .classifier import SequenceClassifier


class NliClassifier:
    """Probability that a premise entails a hypothesis; a long premise counts by its best window.

    Raises CapabilityError at construction where the classifier has no label `entailment`.
    """

    def __init__(self, classifier: SequenceClassifier) -> None:
        found = [place for name, place in classifier.labels.items() if name.lower() == "entailment"]
        if not found:
            raise CapabilityError(
                f"the classifier's labels are {', '.join(classifier.labels)}; one must be `entailment`"
            )
        self._entailment = found[0]
        self._classifier = classifier

    async def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
        """The probability of every pair. Raises ModelOutputError where the model returns NaN."""
        if not premises:
            return []
        limit = self._classifier.max_tokens
        windows = self._classifier.tokenizer(
            list(premises),
            [self._cut(hypothesis) for hypothesis in hypotheses],
            truncation="only_first",
            max_length=limit,
            stride=limit // 8,
            return_overflowing_tokens=True,
        )
        logits = (await self._classifier.logits(windows)).astype(np.float64)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        entailed = weights[:, self._entailment] / weights.sum(axis=1)
        starts = np.flatnonzero(np.diff(windows["overflow_to_sample_mapping"], prepend=-1))
        return [float(value) for value in np.maximum.reduceat(entailed, starts)]

    def _cut(self, hypothesis: str) -> str:
        """The hypothesis's beginning, at most half of what the model reads."""
        tokenizer, half = self._classifier.tokenizer, self._classifier.max_tokens // 2
        offsets = tokenizer(hypothesis, add_special_tokens=False, return_offsets_mapping=True, verbose=False)[
            "offset_mapping"
        ]
        return hypothesis if len(offsets) <= half else hypothesis[: offsets[half - 1][1]]
