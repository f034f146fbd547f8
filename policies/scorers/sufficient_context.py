"""Sufficient Context: a model writes its verdict as JSON (Joren et al., 2025, Sufficient Context: A New Lens
on Retrieval Augmented Generation Systems)
"""

import re
from collections.abc import Sequence

from ...tools.protocols import Generator
from ...tools.types import Passage
from .prompting import PromptTemplate
from .types import Scored

TEMPLATE = (
    "You judge whether a context is sufficient. A context is sufficient if a diligent reader finds in it all "
    "that a definite answer to the question needs, after combining and calculating; it is insufficient if "
    "something is missing, contradictory or has to be guessed.\n"
    "Context:\n{passages}\nQuestion: {question}\n"
    'Think in one short sentence, then give the verdict as JSON: {"sufficient": 1} or {"sufficient": 0}.'
)
MAX_TOKENS = 96
_VERDICT = re.compile(r'"?sufficient(?:[ _]context)?"?\s*:\s*"?(1|0|true|false)\b', re.IGNORECASE)


class SufficientContext:
    """1 for a verdict of sufficient, 0 for insufficient; a reply without a verdict is 0, as in RINSE
    Appendix A, and noted.
    """

    name = "sufficient-context"

    def __init__(self, generator: Generator, template: str = TEMPLATE) -> None:
        self._generator = generator
        self._template = PromptTemplate(generator.capabilities, template, ("question", "passages"))

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """0 or 1. Raises InputError where the prompt is longer than the context."""
        template = self._template
        prompt = template.prompt(question=template.quoted(question), passages=template.block(passages))
        (reply,) = await self._generator.generate([prompt], MAX_TOKENS)
        verdicts = _VERDICT.findall(reply.text)
        if not verdicts:
            return Scored(0.0, note="no verdict in the reply")
        return Scored(float(verdicts[-1].lower() in {"1", "true"}), note=template.note(passages))
