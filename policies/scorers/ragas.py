"""RAGAS context relevance: which share of the context's sentences does the answer need? (Es et al., 2024,
RAGAs: Automated Evaluation of Retrieval Augmented Generation)
"""

import re
from collections.abc import Sequence

from ...tools.normalisation import normalise_answer
from ...tools.protocols import Generator
from ...tools.types import Passage
from .prompting import CHARACTERS, PromptTemplate
from .types import Scored

TEMPLATE = (
    "Copy from the documents the sentences that are needed to answer the question, word for word, nothing "
    "else. If they cannot answer it, write: insufficient information.\n"
    "Question: {question}\n{passages}\nSentences:"
)
MAX_TOKENS = 256
_END = re.compile(r"(?<=[.!?])\s+|\n+")


class ContextRelevance:
    """Sentences of the context that the model copies, over all its sentences; in [0, 1]."""

    name = "ragas"

    def __init__(self, generator: Generator, template: str = TEMPLATE) -> None:
        self._generator = generator
        self._template = PromptTemplate(generator.capabilities, template, ("question", "passages"))

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The share. Raises InputError where the prompt is longer than the context."""
        template = self._template
        prompt = template.prompt(question=template.quoted(question), passages=template.block(passages))
        (reply,) = await self._generator.generate([prompt], MAX_TOKENS)
        context = {line for passage in passages for line in sentences(passage.text[:CHARACTERS])}
        copied = context & set(sentences(reply.text))
        return Scored(len(copied) / max(1, len(context)), note=template.note(passages))


def sentences(text: str) -> list[str]:
    """The sentences of a text, normalised, without those that say nothing."""
    return [line for part in _END.split(text) if (line := normalise_answer(part))]
