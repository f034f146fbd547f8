"""P(True): does a model trust its own answer? (Kadavath et al., 2022, Language Models (Mostly) Know What They
Know)
"""

from collections.abc import Sequence

from ...tools.protocols import Generator
from ...tools.types import Passage
from ..answering import AnswerPrompts
from .answers import Answerer
from .prompting import PromptTemplate, log_odds, spellings
from .types import Scored

TEMPLATE = (
    "{passages}\nQuestion: {question}\nProposed answer: {answer}\n"
    "By the documents above, is the proposed answer true or false?\nThe proposed answer is:"
)


class PTrue:
    """log-odds of True against False, asked about the greedy answer to the same evidence."""

    name = "p-true"

    def __init__(
        self, generator: Generator, prompts: AnswerPrompts | None = None, template: str = TEMPLATE
    ) -> None:
        self._generator = generator
        self._answerer = Answerer(generator, prompts)
        places = ("question", "passages", "answer")
        self._template = PromptTemplate(generator.capabilities, template, places)

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The log-odds. Raises InputError where a prompt is longer than the context."""
        asked = self._answerer.ask(question, passages)
        answer = await self._answerer.answer(asked.prompt)
        template = self._template
        prompt = template.prompt(
            question=template.quoted(question),
            passages=template.block(passages),
            answer=template.quoted(answer.text),
        )
        odds = await log_odds(self._generator, prompt, spellings("true"), spellings("false"))
        return Scored(odds, note=asked.note or template.note(passages))
