"""Retrieved text enters a prompt as data: one line a passage, framed, and nothing in it can pass for ours.

Three things make this hold for every string. White space of any kind becomes a single space, so that only
the prompt's author starts lines. A control token of the chat template or a delimiter of the frame, in any
case and spacing, gets a mark after its first character: ``<|im_end|>`` becomes ``<\\|im_end|>``. And the
mark is a character that none of these strings contains, so no escape can complete another one. Words and
their order stay, which is what a reader of citations needs.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ..tools.types import Passage

_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MARKS = ("\\", *map(chr, range(0xA1, 0x2FFF)))


def quote(text: str, forbidden: Sequence[str]) -> str:
    """`text` on one line in which none of the `forbidden` strings occurs, whatever its case and spacing.

    A forbidden string of one character is replaced by the mark; one of white space only is ignored.
    """
    line = _SURROGATE.sub("\ufffd", _SPACE.sub(" ", text).strip())
    mark, single, several = _escapes(tuple(forbidden))
    if single is not None:
        line = single.sub(lambda _: mark, line)
    if several is not None:
        line = several.sub(lambda match: match[0] + mark, line)
    return line


@lru_cache(maxsize=64)
def _escapes(forbidden: tuple[str, ...]) -> tuple[str, re.Pattern[str] | None, re.Pattern[str] | None]:
    """The mark, the pattern of one-character strings, and the pattern of the first character of longer ones.

    The longer ones are matched by lookahead, which finds every start, overlapping ones too.
    """
    bare = sorted({_SPACE.sub("", token) for token in forbidden} - {""})
    taken = set("".join(bare))
    mark = next(c for c in _MARKS if c not in taken and not c.isspace() and c.lower() == c.upper())
    single = [re.escape(token) for token in bare if len(token) == 1]
    several = [" ?".join(map(re.escape, token)) for token in bare if len(token) > 1]
    return (
        mark,
        re.compile("|".join(single), re.IGNORECASE) if single else None,
        re.compile(f"(?={'|'.join(several)}).", re.IGNORECASE) if several else None,
    )


class ContextFrame(BaseModel):
    """How passages stand in a prompt: one line each between two delimiter lines.

    `passage` is the template of one line and holds `{number}` where numbers are wanted, and `{passage}`
    (title and text) exactly once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    begin: str = "<context>"
    end: str = "</context>"
    passage: str = "[{number}] {passage}"
    first_number: int = Field(default=1, ge=0)

    @field_validator("passage")
    @classmethod
    def _has_passage(cls, template: str) -> str:
        if template.count("{passage}") != 1 or "\n" in template:
            raise ValueError("must be one line that holds {passage} exactly once")
        return template


DEFAULT_FRAME = ContextFrame()


def passage_line(
    passage: Passage, number: int, control_tokens: Sequence[str], frame: ContextFrame = DEFAULT_FRAME
) -> str:
    """One passage as it stands in the context block: numbered, titled, quoted."""
    title = passage.title.strip()
    titled = passage.text if not title or passage.text.startswith(title) else f"{title}: {passage.text}"
    quoted = quote(titled, (*control_tokens, frame.begin, frame.end))
    return fill(frame.passage, number=str(number), passage=quoted)


def context_block(
    passages: Sequence[Passage], control_tokens: Sequence[str], frame: ContextFrame = DEFAULT_FRAME
) -> str:
    """The passages as data, in the order given; len(passages) + 2 lines under the default frame."""
    lines = (
        passage_line(passage, number, control_tokens, frame)
        for number, passage in enumerate(passages, start=frame.first_number)
    )
    return "\n".join((frame.begin, *lines, frame.end))


def fill(template: str, **values: str) -> str:
    """Put the values in place of `{name}` in one pass: braces inside a value are left as they are."""
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda match: values[match[1]], template)
