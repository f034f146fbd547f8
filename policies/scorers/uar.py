"""UAR: four linear heads on a frozen model's last state decide whether it needs retrieval (Cheng et al.,
2024, Unified Active Retrieval for Retrieval Augmented Generation)
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...tools.errors import ModelOutputError, SettingsError
from ...tools.protocols import Encoder
from ...tools.types import Passage
from .prompting import PromptTemplate
from .types import Scored

Head = Literal["intent", "knowledge", "time", "self"]
HEADS: tuple[Head, ...] = ("intent", "knowledge", "time", "self")
TEMPLATE = "{passages}\nAnswer the question by the documents above.\nQuestion: {question}"


def needs_retrieval(fires: Mapping[Head, bool]) -> bool:
    """The decision tree.

    `fires` says of each head whether its first class has a probability of at least one half: the user asks
    for retrieval; the task needs no outside knowledge; the answer changes with time; the model does not know.
    """
    if fires["intent"]:
        return True
    if fires["knowledge"]:
        return False
    return fires["time"] or fires["self"]


class UAR:
    """1 where the tree sees no need for retrieval beyond the passages, else 0.

    `heads` maps each head to weights of shape (2, width), first class first, as released. Raises
    SettingsError where one is missing or does not fit the model.
    """

    name = "uar"

    def __init__(
        self, encoder: Encoder, heads: Mapping[str, NDArray[np.float32]], template: str = TEMPLATE
    ) -> None:
        missing = [head for head in HEADS if head not in heads]
        if missing:
            raise SettingsError(f"the UAR heads lack {missing[0]!r}; all of {', '.join(HEADS)} are needed")
        self._encoder = encoder
        self._heads: dict[Head, NDArray[np.float32]] = {head: heads[head] for head in HEADS}
        self._template = PromptTemplate(encoder.capabilities, template, ("question", "passages"))

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """0 or 1. Raises InputError where the prompt is longer than the context."""
        template = self._template
        prompt = template.prompt(question=template.quoted(question), passages=template.block(passages))
        state = np.asarray(await self._encoder.states([prompt], [self._encoder.depth]))[0, 0]
        fires = {head: self._fires(head, state) for head in HEADS}
        return Scored(float(not needs_retrieval(fires)), note=template.note(passages))

    def _fires(self, head: Head, state: NDArray[np.float32]) -> bool:
        weights = self._heads[head]
        if weights.shape != (2, len(state)):
            raise SettingsError(
                f"the UAR head {head!r} has shape {weights.shape}, not (2, {len(state)}): it belongs to "
                "another model"
            )
        first, second = weights @ state
        if not np.isfinite([first, second]).all():
            raise ModelOutputError("a UAR head returned NaN or infinity; check the model's weights")
        # p(first) >= 1/2 of a softmax over two.
        return bool(first >= second)
