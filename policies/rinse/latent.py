"""The latent reader: what a frozen causal model makes of passages that it reads together. (RINSE section 4)

Question and the five passages that the reranker ranks highest, in their input order, go through the model in
one forward pass. The final token's state at one layer, at unit length, is projected on a fixed direction: the
mean over training families of (mean state of sufficient records - mean state of insufficient ones).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...tools.errors import InputError, ModelOutputError
from ...tools.protocols import Encoder, Reranker
from ...tools.types import Passage, Prompt, PromptStyle
from ..quoting import ContextFrame, context_block, fill, quote
from ..types import Reading
from .content import passage_text

# Characters a token may have at most before a text is cut by its tokens: it bounds what is tokenised.
CHARACTERS_PER_TOKEN = 16


@dataclass(frozen=True, slots=True)
class LatentPrompt:
    """What the model is asked, a part of the artifact.

    `template` holds `{question}` and `{passages}`, the latter a block as `frame` draws it. At most `passages`
    passages are read, each cut to `passage_tokens` tokens, the question to `question_tokens`.
    """

    style: PromptStyle
    template: str
    frame: ContextFrame = field(default_factory=ContextFrame)
    passages: int = 5
    passage_tokens: int = 160
    question_tokens: int = 128


PROMPTS = {
    "judge": LatentPrompt(
        style="chat",
        template=(
            "Decide whether the documents hold everything that is needed to answer the question. Facts from "
            "several documents may be combined; nothing may be guessed.\nQuestion: {question}\n{passages}\n"
            "Question: {question}\nIs the answer in the documents? Reply yes or no."
        ),
    ),
    "answer": LatentPrompt(
        style="completion",
        template=(
            "Answer from the documents alone; where they do not tell, the answer is unknown.\n{passages}\n"
            "Question: {question}\nAnswer:"
        ),
    ),
}
"""The wordings that `fit` may choose from, by name. The choice is made on training families only."""


def prompts_named(names: Sequence[str]) -> tuple[LatentPrompt, ...]:
    """The wordings of these names. Raises InputError naming what there is."""
    unknown = [name for name in names if name not in PROMPTS]
    if unknown:
        raise InputError(f"no wording named {unknown[0]!r}; there are: {', '.join(PROMPTS)}")
    return tuple(PROMPTS[name] for name in dict.fromkeys(names))


def cut(text: str, tokens: int, encoder: Encoder) -> str:
    """The longest run of whole words from the start of `text` that has at most `tokens` tokens.

    A first word that is longer than that is cut within.
    """
    text = text[: tokens * CHARACTERS_PER_TOKEN]
    if encoder.count_tokens(text) <= tokens:
        return text
    ends = [position for position, character in enumerate(text) if character.isspace()]
    candidates = ends if ends and encoder.count_tokens(text[: ends[0]]) <= tokens else list(range(len(text)))
    low, high = 0, len(candidates) - 1
    while low < high:
        middle = (low + high + 1) // 2
        fits = encoder.count_tokens(text[: candidates[middle]]) <= tokens
        low, high = (middle, high) if fits else (low, middle - 1)
    return text[: candidates[low]]


async def latent_prompt(
    question: str, passages: Sequence[Passage], prompt: LatentPrompt, encoder: Encoder, reranker: Reranker
) -> Prompt:
    """The prompt of one record.

    Question and passages are data: quoted, so that nothing in them can pose as prompt, then cut. Raises
    ModelOutputError where the reranker gives NaN or infinity.
    """
    asked = _quoted(question, prompt.question_tokens, encoder)
    kept = await strongest(asked, passages, reranker, prompt.passages)
    shortened = [
        replace(passage, title="", text=_quoted(_titled(passage), prompt.passage_tokens, encoder))
        for passage in kept
    ]
    block = context_block(shortened, encoder.capabilities.control_tokens, prompt.frame)
    return Prompt(fill(prompt.template, question=asked, passages=block), prompt.style)


def _quoted(text: str, tokens: int, encoder: Encoder) -> str:
    """Quoted first: what is cut afterwards is as long as what is read."""
    return cut(
        quote(text[: tokens * CHARACTERS_PER_TOKEN], encoder.capabilities.control_tokens), tokens, encoder
    )


def _titled(passage: Passage) -> str:
    return f"{passage.title}: {passage.text}" if passage.title else passage.text


async def strongest(
    question: str, passages: Sequence[Passage], reranker: Reranker, count: int
) -> list[Passage]:
    """The `count` passages that the reranker scores highest, in their input order; ties go to the earlier."""
    if len(passages) <= count:
        return list(passages)
    scores = np.asarray(await reranker.score([question], [passage_text(p) for p in passages]))[0]
    if not np.isfinite(scores).all():
        raise ModelOutputError(
            "the reranker returned NaN or infinity for this question; check its weights and numeric type"
        )
    kept = np.sort(np.argsort(-scores, kind="stable")[:count])
    return [passages[index] for index in kept]


async def unit_states(encoder: Encoder, prompt: Prompt, layers: Sequence[int]) -> NDArray[np.float32]:
    """Final-token states at unit length; shape (layers, width).

    Raises ModelOutputError where a state is not finite or has no length.
    """
    states = np.asarray(await encoder.states([prompt], layers), dtype=np.float32)[:, 0]
    lengths = np.linalg.norm(states, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ModelOutputError(
            "the latent reader's model returned NaN, infinity or an empty state; check its weights"
        )
    unit: NDArray[np.float32] = states / lengths
    return unit


@dataclass(frozen=True, slots=True)
class LatentModel:
    """What `fit` learns for the latent reader: prompt, layer, and the direction u of shape (width,)."""

    prompt: LatentPrompt
    layer: int
    direction: NDArray[np.float64]

    def raw(self, state: NDArray[np.float32]) -> float:
        """h_latent: the unit-length state's projection on u."""
        return float(state.astype(np.float64) @ self.direction)


class LatentReader:
    """The latent reader over its frozen model; the reranker chooses what it reads."""

    name = "latent"

    def __init__(self, model: LatentModel, encoder: Encoder, reranker: Reranker) -> None:
        self._model = model
        self._encoder = encoder
        self._reranker = reranker

    async def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """h_latent. Raises ModelOutputError on NaN from either model."""
        prompt = await latent_prompt(question, passages, self._model.prompt, self._encoder, self._reranker)
        states = await unit_states(self._encoder, prompt, [self._model.layer])
        return Reading(self._model.raw(states[0]))
