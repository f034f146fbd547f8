"""The prompts of the answers and of their three likelihood views (TrustMargin, Appendix D.1 to D.4).

`question_only` writes the closed-book answer and is view D; `question_context` writes the RAG answer and is
view R; `context_only` is view C. In R and C the context block comes first and what stands before and in it is
the same string, so that one prefill serves both.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from ..tools.errors import CapabilityError
from ..tools.protocols import Generator
from ..tools.types import Passage, Prompt, PromptStyle
from .quoting import DEFAULT_FRAME, ContextFrame, context_block, fill, quote

_CHAT: dict[str, Any] = {
    "style": "chat",
    "system": "You are a helpful AI assistant.",
    "question_only": (
        "Answer the question with a short phrase or a single word.\n\nQuestion: {question}\nAnswer:"
    ),
    "question_context": (
        "{context}\n\nAnswer the question from the context above, with a short phrase or a single word."
        "\n\nQuestion: {question}\nAnswer:"
    ),
    "context_only": (
        "{context}\n\nGive the short phrase or single word that the context above supports best.\n\nAnswer:"
    ),
    "lead": "",
}


class WorkedExample(BaseModel):
    """A question with its short answer, shown to the model before the real question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    answer: str


WORKED_EXAMPLES = (
    WorkedExample(question="Who was the first person to walk on the Moon?", answer="Neil Armstrong"),
    # The unit teaches a small model to give the whole phrase, not the bare number.
    WorkedExample(question="How tall is Mount Everest?", answer="8,849 metres"),
)


def examples_block(examples: Sequence[WorkedExample]) -> str:
    """Worked examples as they stand in a prompt, each followed by an empty line; "" for none."""
    return "".join(f"Question: {e.question}\nAnswer: {e.answer}\n\n" for e in examples)


class AnswerPrompts(BaseModel):
    """Wording of the answer prompts; the structure is TrustMargin's, Appendix D.

    `profile` gives every field that is not set a value: `worked_examples` for small models, a completion
    prompt with two worked examples that stops at the newline; `chat` for models that follow instructions.
    `{context}`, `{question}` and `{examples}` are the places in the templates.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: Literal["worked_examples", "chat"] = "worked_examples"
    style: PromptStyle = "completion"
    system: str = ""
    question_only: str = (
        "Answer each question with a short phrase.\n\n{examples}Question: {question}\nAnswer:"
    )
    question_context: str = (
        "{context}\n\nAnswer each question with a short phrase. Use the context above.\n\n"
        "{examples}Question: {question}\nAnswer:"
    )
    context_only: str = "{context}\n\nGive the short phrase that the context above supports best.\n\nAnswer:"
    examples: tuple[WorkedExample, ...] = WORKED_EXAMPLES
    stop: tuple[str, ...] = ("\n",)
    lead: str = " "
    frame: ContextFrame = DEFAULT_FRAME
    context_tokens: int = Field(default=2048, ge=1, description="longest context block, in tokens")

    @model_validator(mode="before")
    @classmethod
    def _fill_from_profile(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("profile") == "chat":
            return _CHAT | values
        return values

    @field_validator("question_only", "question_context", "context_only")
    @classmethod
    def _has_its_places(cls, template: str, info: ValidationInfo) -> str:
        needed, barred = _PLACES[str(info.field_name)]
        for place in needed:
            if template.count(place) != 1:
                raise ValueError(f"must hold {place} exactly once, holds it {template.count(place)} times")
        for place in barred:
            if place in template:
                raise ValueError(f"must not hold {place}: this view does not see it")
        return template

    @model_validator(mode="after")
    def _shares_the_context(self) -> Self:
        before = {t.partition("{context}")[0] for t in (self.question_context, self.context_only)}
        if len(before) > 1 or any("{" in text for text in before):
            raise ValueError(
                "question_context and context_only must begin alike up to {context}, without other places"
            )
        return self


_PLACES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "question_only": (("{question}",), ("{context}",)),
    "question_context": (("{context}", "{question}"), ()),
    "context_only": (("{context}",), ("{question}", "{examples}")),
}


class PromptWriter:
    """Builds the three prompts for one generator.

    Raises CapabilityError at construction if the generator lacks a chat template that the style asks for, or
    cannot hold a context block of `context_tokens`.
    """

    def __init__(self, generator: Generator, prompts: AnswerPrompts) -> None:
        capabilities = generator.capabilities
        if prompts.style == "chat" and not capabilities.has_chat_template:
            raise CapabilityError(
                f"{capabilities.model} has no chat template; set the prompts' profile to worked_examples"
            )
        if prompts.context_tokens >= capabilities.context_tokens:
            raise CapabilityError(
                f"context_tokens = {prompts.context_tokens} leaves no room in the "
                f"{capabilities.context_tokens} tokens of {capabilities.model}; lower it"
            )
        self._generator = generator
        self._prompts = prompts
        self._control_tokens = capabilities.control_tokens
        self._examples = examples_block(prompts.examples)

    def fit(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The passages that the prompts show: in order, each that still fits into `context_tokens`.

        The cut is always at a passage boundary; where a long passage is left out, a later one may fit.
        """
        shown: tuple[Passage, ...] = ()
        for passage in passages:
            longer = (*shown, passage)
            if self._generator.count_tokens(self._block(longer)) <= self._prompts.context_tokens:
                shown = longer
        return shown

    def question_only(self, question: str) -> Prompt:
        """The closed-book prompt, view D."""
        return self._prompt(
            fill(self._prompts.question_only, question=self._quoted(question), examples=self._examples)
        )

    def question_context(self, question: str, passages: Sequence[Passage]) -> Prompt:
        """The RAG prompt, view R, over `fit(passages)`; the closed-book prompt if that is empty."""
        shown = self.fit(passages)
        if not shown:
            return self.question_only(question)
        return self._prompt(
            fill(
                self._prompts.question_context,
                context=self._block(shown),
                question=self._quoted(question),
                examples=self._examples,
            )
        )

    def context_only(self, passages: Sequence[Passage]) -> Prompt:
        """View C, over `fit(passages)`: what the passages suggest to a reader who was asked nothing."""
        return self._prompt(fill(self._prompts.context_only, context=self._block(self.fit(passages))))

    def _block(self, passages: Sequence[Passage]) -> str:
        return context_block(passages, self._control_tokens, self._prompts.frame)

    def _quoted(self, question: str) -> str:
        # A question may come from anywhere too, and a line of its own could end it early.
        return quote(question, (*self._control_tokens, self._prompts.frame.begin, self._prompts.frame.end))

    def _prompt(self, text: str) -> Prompt:
        prompts = self._prompts
        return Prompt(text, prompts.style, prompts.system, prompts.stop, prompts.lead)
