"""Attribution by entailment: does a passage entail the generated answer? (Honovich et al., 2022, TRUE:
Re-evaluating Factual Consistency Evaluation; Gao et al., 2023, Enabling Large Language Models to Generate
Text with Citations)
"""

from collections.abc import Sequence

from ...tools.normalisation import is_blank
from ...tools.protocols import Generator
from ...tools.types import Passage
from ..answering import AnswerPrompts
from ..rinse.content import passage_text
from .answers import Answerer
from .entailment import Entailment
from .types import Scored


class Attribution:
    """The largest probability over passages that one entails "the answer to q is a".

    An empty answer claims nothing that could be attributed: it scores 0, and is noted.
    """

    name = "attribution"

    def __init__(
        self, generator: Generator, entailment: Entailment, prompts: AnswerPrompts | None = None
    ) -> None:
        self._answerer = Answerer(generator, prompts)
        self._entailment = entailment

    async def score(self, question: str, passages: Sequence[Passage]) -> Scored:
        """The maximum, in [0, 1]."""
        asked = self._answerer.ask(question, passages)
        answer = (await self._answerer.answer(asked.prompt)).text
        if is_blank(answer):
            return Scored(0.0, note="the answer is empty")
        claim = f'The answer to the question "{question}" is {answer}.'
        premises = [passage_text(passage) for passage in passages]
        return Scored(max(await self._entailment.entails(premises, [claim] * len(premises))), note=asked.note)
