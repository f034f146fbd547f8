"""The probing prompts: short, neutral, alike but for the passage and what points to it (IGP, 4.1.4 B)."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from ..tools.types import PromptStyle
from .answering import WORKED_EXAMPLES, WorkedExample
from .quoting import DEFAULT_FRAME

_CHAT: dict[str, Any] = {
    "style": "chat",
    "without_passage": "{question}",
    "with_passage": "{question}\n\nContext: {context}",
    "examples": (),
    "stop": (),
}


class ProbePrompts(BaseModel):
    """Wording of the two probing prompts.

    `profile` gives every field that is not set a value. `chat` is the paper's: the question in the user turn,
    then the passage, until the end of the turn. `worked_examples` is for small models: a completion prompt,
    the passage first, two worked examples, and a stop at the newline. A small model's uncertainty under the
    bare chat form is mostly about how to phrase its reply. `{question}`, `{context}` (one line a passage) and
    `{examples}` are the places.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: Literal["worked_examples", "chat"] = "worked_examples"
    style: PromptStyle = "completion"
    system: str = ""
    without_passage: str = (
        "Answer each question with a short phrase.\n\n{examples}Question: {question}\nAnswer:"
    )
    with_passage: str = (
        f"{DEFAULT_FRAME.begin}\n{{context}}\n{DEFAULT_FRAME.end}\n\n"
        "Answer each question with a short phrase. Use the context above.\n\n"
        "{examples}Question: {question}\nAnswer:"
    )
    examples: tuple[WorkedExample, ...] = WORKED_EXAMPLES
    stop: tuple[str, ...] = ("\n",)

    @model_validator(mode="before")
    @classmethod
    def _fill_from_profile(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("profile") == "chat":
            return _CHAT | values
        return values

    @field_validator("without_passage")
    @classmethod
    def _has_question(cls, template: str) -> str:
        if template.count("{question}") != 1 or "{context}" in template:
            raise ValueError("must hold {question} exactly once and no {context}")
        return template

    @field_validator("with_passage")
    @classmethod
    def _has_both(cls, template: str) -> str:
        if template.count("{question}") != 1 or template.count("{context}") != 1:
            raise ValueError("must hold {question} and {context} exactly once each")
        return template
