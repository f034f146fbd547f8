"""DTR: decide by the draft's uncertainty, then retrieve on two paths (Chen et al., 2026, Decide Then
Retrieve: A Training-Free Framework with Uncertainty-Guided Triggering and Dual-Path Retrieval)

As in the paper: u = -(1/T) log p(y_D | q) (eq. 3), and a draft with u at most `uncertainty` stands; otherwise
question q and a passage p that the model writes from memory are two queries, and of all that they find those
documents are kept that are near to both (eq. 7),

    s(d) = s_1 s_2 - sqrt(1 - s_1^2) sqrt(1 - s_2^2) = cos(theta_1 + theta_2).

Simpler than the paper: s_1 and s_2 are its cosines of embeddings; here any retriever may stand, so they are
the retriever's scores as shares of the best of their query, 0 for a document that a query did not find.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...tools.normalisation import is_blank
from ...tools.protocols import Retriever
from ...tools.types import Passage, PassageKey
from .reasoning import ReasoningPrompts
from .short_answers import ShortAnswers
from .strategy import Answered


@dataclass(frozen=True, slots=True)
class DTR:
    """Each path finds `passages`, and as many are kept. `uncertainty` is in nats per token, from 0 up.

    The memory passage has at most `context_tokens` tokens.
    """

    retriever: Retriever
    answers: ShortAnswers
    passages: int = 20
    uncertainty: float = 0.01
    context_tokens: int = 64

    async def answer(self, question: str) -> Answered:
        """See Strategy."""
        draft = await self.answers.closed_book(question)
        if draft.mean_logprob is not None and -draft.mean_logprob <= self.uncertainty:
            return draft, ()
        by_question = await self.retriever.search(question, self.passages)
        prompt = ReasoningPrompts(self.answers).pseudo_passage(question)
        (context,) = await self.answers.generator.generate([prompt], self.context_tokens)
        by_context = (
            [] if is_blank(context.text) else await self.retriever.search(context.text, self.passages)
        )
        kept = jointly_relevant(by_question, by_context)[: self.passages]
        return await self.answers.from_passages(question, kept)


def jointly_relevant(by_question: Sequence[Passage], by_context: Sequence[Passage]) -> list[Passage]:
    """All passages of both paths, each once, by eq. (7), best first; of equal ones the question's first.

    With an empty path the other's order stands.
    """
    first, second = _shares(by_question), _shares(by_context)
    merged = {passage.key: passage for passage in (*by_context, *by_question)}
    order = dict.fromkeys((*first, *second))
    scores = {key: joint_relevance(first.get(key, 0.0), second.get(key, 0.0)) for key in order}
    return [merged[key] for key in sorted(order, key=lambda key: -scores[key])]


def joint_relevance(first: float, second: float) -> float:
    """cos(theta_1 + theta_2) in [-1, 1] of two cosines in [0, 1]: eq. (7)."""
    return first * second - math.sqrt(1 - first**2) * math.sqrt(1 - second**2)


def _shares(found: Sequence[Passage]) -> Mapping[PassageKey, float]:
    """Scores as shares of the best, in [0, 1]; where the best is not above 0, or there is none, by rank."""
    scores = [passage.score or 0.0 for passage in found]
    best = max(scores, default=0.0)
    if best <= 0:
        return {passage.key: 1 / rank for rank, passage in enumerate(found, start=1)}
    return {
        passage.key: min(max(score / best, 0.0), 1.0) for passage, score in zip(found, scores, strict=True)
    }
