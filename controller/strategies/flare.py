"""FLARE: retrieve only where the model's own draft is uncertain (Jiang et al., 2023, Active Retrieval
Augmented Generation)

As in the paper: the model drafts its next sentence without passages; if every token's probability reaches
`confidence`, the draft stands; otherwise the draft without its tokens under `masked` is the query, and the
sentence is written anew from what that finds.

Simpler than the paper: a short answer is one sentence, so that the loop over sentences has one turn. The
question goes into the query as well, since a short answer without its uncertain words may leave none. Words,
not tokens, are masked, each by its least probable token. Both thresholds are settable; the defaults are ours.
"""

import math
from dataclasses import dataclass

from ...tools.protocols import Retriever
from ...tools.types import Generation
from .short_answers import ShortAnswers
from .strategy import Answered


@dataclass(frozen=True, slots=True)
class FLARE:
    """`confidence` and `masked` are probabilities, theta and beta of the paper."""

    retriever: Retriever
    answers: ShortAnswers
    passages: int = 20
    confidence: float = 0.8
    masked: float = 0.4

    async def answer(self, question: str) -> Answered:
        """See Strategy."""
        draft = await self.answers.closed_book(question)
        if draft.logprobs and math.exp(min(draft.logprobs)) >= self.confidence:
            return draft, ()
        query = " ".join((question, *self._certain(draft)))
        found = await self.retriever.search(query, self.passages)
        return await self.answers.from_passages(question, found)

    def _certain(self, draft: Generation) -> list[str]:
        """The draft's words whose every token has at least the probability `masked`.

        None where the tokens cannot be laid out over the words, because the model spelt them otherwise than
        its tokenizer does.
        """
        words = draft.text.split()
        lead, count = self.answers.prompts.lead, self.answers.generator.count_tokens
        ends = [count(lead + " ".join(words[: place + 1])) for place in range(len(words))]
        if not words or ends[-1] != len(draft.logprobs):
            return []
        spans = zip((0, *ends), ends, strict=False)
        return [
            word
            for word, (start, end) in zip(words, spans, strict=True)
            if math.exp(min(draft.logprobs[start:end], default=0.0)) >= self.masked
        ]
