"""A conversation around a question: how earlier turns and instructions reach the prompts.

Two things happen to them, and both are bounded. A question that refers back ("And who leads it?") is made
`standalone` by putting the questions it follows in front of it: that is what is retrieved for, scored and
probed. And the prompts that write and judge the answers get a block that holds the instructions and as many
of the latest turns as fit, every one quoted on a line of its own, as retrieved passages are: text that was
said, never instructions of ours. View C of TrustMargin, whose reader was asked nothing, does not see it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..tools.errors import InputError
from ..tools.protocols import Generator
from .answering import AnswerPrompts
from .quoting import quote

Speaker = Literal["user", "assistant"]

BEGIN, END = "<conversation>", "</conversation>"
_PLACES = ("{context}", "{question}", "{examples}")

FOLLOWED = 3
"""How many earlier questions are looked at for what a follow-up refers to."""

SHORT = 80
"""Characters of an earlier answer that still names something, rather than explaining it."""

DENSEST = 16
"""Characters a token may have on average: what is longer fits no limit and is not even counted."""

_OPENING = re.compile(r"(and|but|or|so|then|what about|how about)\b", re.IGNORECASE)
_REFERENCE = re.compile(
    r"\b(it|its|they|them|their|theirs|he|him|his|she|her|hers|this|these|those|former|latter)\b",
    re.IGNORECASE,
)


class ConversationSettings(BaseModel):
    """How much of a conversation is read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    history_tokens: int = Field(
        default=512, ge=0, description="tokens of earlier turns in a prompt, the latest first"
    )
    instruction_tokens: int = Field(default=512, ge=0, description="longest system instructions, in tokens")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """What stands around a question: the system's instructions, and the turns before it, oldest first."""

    instructions: str = ""
    turns: tuple[Turn, ...] = ()


def refers_back(question: str) -> bool:
    """Whether an English question seems to need the one before it: it begins with "and" or the like, holds a
    pronoun, or is of one or two words."""
    return bool(_OPENING.match(question.strip()) or _REFERENCE.search(question) or len(question.split()) <= 2)


def standalone(question: str, turns: Sequence[Turn], limit: int) -> str:
    """The question with what it refers back to in front: at most `limit` characters where `question` is.

    That is the nearest earlier question which refers to nothing, every one since then, and the last answer if
    it is short enough to be a name. A question that refers to nothing, or with nothing before it, stays.
    """
    if not refers_back(question):
        return question
    front: list[str] = []
    asked = 0
    for turn in reversed(turns):
        if len(turn.text) > limit:
            break
        if turn.speaker == "user":
            asked += 1
            front.insert(0, turn.text.strip())
            if asked == FOLLOWED or not refers_back(turn.text):
                break
        elif not front and len(turn.text) <= SHORT:
            front.insert(0, turn.text.strip())
    whole = " ".join([*front, question])
    return whole if asked and len(whole) <= limit else question


def in_conversation(
    prompts: AnswerPrompts, conversation: Conversation, generator: Generator, settings: ConversationSettings
) -> tuple[AnswerPrompts, int]:
    """The prompts of one conversation, and how many of its turns they show, the latest ones.

    Instructions become part of the system message where the style has one. Everything else goes in front of
    the question and behind the context, so that views R and C still begin alike. Turns are cut at their
    boundaries: `history_tokens`, or a quarter of what the context block leaves if that is less. Raises
    InputError where the instructions exceed `instruction_tokens`.
    """
    forbidden = (
        *generator.capabilities.control_tokens,
        *(prompts.frame.begin, prompts.frame.end, BEGIN, END, *_PLACES),
    )
    instructions = _instructions(conversation.instructions, forbidden, generator, settings.instruction_tokens)
    room = (generator.capabilities.context_tokens - prompts.context_tokens) // 4
    lines = _latest(conversation.turns, forbidden, generator, min(settings.history_tokens, room))
    changed: dict[str, str] = {}
    head = []
    if instructions and prompts.style == "chat":
        changed["system"] = f"{prompts.system}\n{instructions}".strip()
    elif instructions:
        head = [f"Instructions: {instructions}", ""]
    block = "\n".join([*head, *((BEGIN, *lines, END, "") if lines else ())])
    if block:
        changed["question_only"] = f"{block}\n{prompts.question_only}"
        before, place, after = prompts.question_context.partition("{context}")
        changed["question_context"] = f"{before}{place}\n\n{block.rstrip()}{after}"
    return AnswerPrompts.model_validate({**prompts.model_dump(), **changed}), len(lines)


def _instructions(text: str, forbidden: Sequence[str], generator: Generator, tokens: int) -> str:
    """The instructions on one line. Raises InputError where they exceed `tokens`."""
    if len(text) <= DENSEST * tokens:
        line = quote(text, forbidden)
        if generator.count_tokens(line) <= tokens:
            return line
    raise InputError(
        f"the system instructions have {len(text):,} characters, at most {tokens} tokens are read "
        "(setting instruction_tokens); shorten them"
    )


def _latest(turns: Sequence[Turn], forbidden: Sequence[str], generator: Generator, tokens: int) -> list[str]:
    """The latest turns that fit into `tokens`, oldest of them first, a line each."""
    lines: list[str] = []
    for turn in reversed(turns):
        if len(turn.text) > DENSEST * tokens:
            break
        line = f"{turn.speaker.capitalize()}: {quote(turn.text, forbidden)}"
        tokens -= generator.count_tokens(line) + 1
        if tokens < 0:
            break
        lines.insert(0, line)
    return lines
