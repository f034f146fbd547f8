"""Prompts for text that is no answer yet: the next sentence of a chain of thought, a passage from memory.

The wording is ours. Passages, questions and the model's own earlier sentences go in as quoted data.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...policies.scorers.prompting import PromptTemplate
from ...tools.types import Passage, Prompt
from .short_answers import ShortAnswers

_STEPS = (
    "{passages}\n\nAnswer each question step by step, one short sentence a step. Use the context above. "
    "End with: So the answer is.\n\n"
    "Question: Were Neil Armstrong and Yuri Gagarin born in the same country?\n"
    "Steps: Neil Armstrong was born in the United States. Yuri Gagarin was born in the Soviet Union. "
    "So the answer is no.\n\n"
    "Question: {question}\nSteps:{steps}"
)
_PASSAGE = (
    "Write a short passage of an encyclopedia that answers the question.\n\n"
    "Question: How tall is Mount Everest?\n"
    "Passage: Mount Everest, on the border of Nepal and China, is Earth's highest mountain. Its summit lies "
    "8,849 metres above sea level.\n\n"
    "Question: {question}\nPassage:"
)


class ReasoningPrompts:
    """Prompts of the same style as the answers', each ending at the newline."""

    def __init__(self, answers: ShortAnswers) -> None:
        self._answers = answers
        self._steps = self._template(_STEPS, ("passages", "question", "steps"))
        self._passage = self._template(_PASSAGE, ("question",))

    def next_step(self, question: str, passages: Sequence[Passage], steps: Sequence[str]) -> Prompt:
        """Asks for the sentence after `steps`, from the passages that fit."""
        template = self._steps
        return self._ending(
            template.prompt(
                passages=template.block(self._answers.writer.fit(passages)),
                question=template.quoted(question),
                steps="".join(f" {template.quoted(step)}" for step in steps),
            )
        )

    def pseudo_passage(self, question: str) -> Prompt:
        """Asks for what a passage that answers the question might say."""
        return self._ending(self._passage.prompt(question=self._passage.quoted(question)))

    def _template(self, text: str, places: Sequence[str]) -> PromptTemplate:
        completion = self._answers.prompts.style == "completion"
        return PromptTemplate(self._answers.generator.capabilities, text, places, completion=completion)

    @staticmethod
    def _ending(prompt: Prompt) -> Prompt:
        return replace(prompt, stop=("\n",))
