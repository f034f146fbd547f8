"""Other words for a question, by templates that say nothing of what it asks for."""

import random
import re
from typing import Final

# Each keeps what is asked for and changes how.
_TURNS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), turned)
    for pattern, turned in (
        (r"^what (is|was|are|were) (.+?)\?*$", r"Tell me what \2 \1."),
        (r"^who (is|was|are|were) (.+?)\?*$", r"Tell me who \2 \1."),
        (r"^where (is|was|are|were) (.+?)\?*$", r"Tell me where \2 \1."),
        (r"^in (what|which) (year|country|city|century) (.+)$", r"During which \2 \3"),
        (r"^when (did|was|is) (.+)$", r"At what time \1 \2"),
        (r"^how many (.+)$", r"What number of \1"),
        (r"^which (.+)$", r"What \1"),
        (r"^what (?!is|was|are|were)(.+)$", r"Which \1"),
    )
)
_FRAMES: Final = (
    "Can you tell me: {question}",
    "I would like to know: {question}",
    "Quick question: {question}",
    "{question} Please answer briefly.",
    "Please help me with this: {question}",
    "Does anybody know? {question}",
)


def paraphrase(question: str, random_: random.Random) -> str:
    """The question in other words: turned by a template that fits, or put into a frame, or both."""
    fitting = [(pattern, turned) for pattern, turned in _TURNS if pattern.match(question)]
    turn = bool(fitting) and random_.random() < 0.5
    if turn:
        pattern, turned = random_.choice(fitting)
        question = pattern.sub(turned, question)
    if not turn or random_.random() < 0.5:
        question = random_.choice(_FRAMES).format(question=question)
    return question
