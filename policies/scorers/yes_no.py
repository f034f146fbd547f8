"""The yes/no prompt: log-odds that a model calls the evidence enough (RINSE Appendix A, "Yes/no prompt")."""

from collections.abc import Sequence

from ...tools.protocols import Generator
from ...tools.types import Passage
from .prompting import PromptTemplate, log_odds, spellings
from .types import Scored

TEMPLATE = (
    "Read the documents and decide whether a careful reader could give a definite answer to the question "
    "from them. Facts of several documents may be put together; nothing may be added.\n"
    "Question: {question}\n{passages}\n"
    "Can the question be answered from the documents? Say yes or no.\nAnswer:"
)


class YesNo:
    """log Σ p(yes) - log Σ p(no) at the position of the answer; no text is decoded."""

    name = "yes-no"

    def __init__(self, generator: Generator, template: str = TEMPLATE) -> None:
        places = ("question", "passages")
        self._generator = generator
        self._template = PromptTemplate(generator.capabilities, template, places, characters=800)

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The log-odds. Raises InputError where the prompt is longer than the context."""
        template = self._template
        prompt = template.prompt(question=template.quoted(question), passages=template.block(passages))
        odds = await log_odds(self._generator, prompt, spellings("yes"), spellings("no"))
        return Scored(odds, note=template.note(passages))
