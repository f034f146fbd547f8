"""Evidence and questions that were spoilt on purpose: close to the original, and without its answer.

Every negative is checked: one in which a gold answer survives, or whose edit changes nothing, is dropped.
"""

import random
import re
from collections.abc import Sequence
from itertools import cycle, islice

from ....policies.rinse.content import passage_text
from ....tools.types import Passage
from ..contrasts.overlap import checkable, states, words
from ..datasets.examples import Example
from .sources import sentences

_NAME = re.compile(
    r"\b(?:[A-Z][\w'’-]*(?: +(?:of|the|de|van|von|and) +(?=[A-Z])| +(?=[A-Z])|))+|\b\d[\d,.]*\d\b"
)
_FEWEST_LETTERS = 2


def answer_spans(text: str, answers: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Character spans [start, end) where one of the answers stands in `text`, the first answer's first."""
    spans = []
    for answer in answers:
        pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, answer.split())) + r"(?!\w)"
        spans += [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]
    return tuple(dict.fromkeys(spans))


def without_answer(passage: Passage, answers: Sequence[str], topical: Passage) -> Passage | None:
    """The passage with its answer sentences replaced by as many words of `topical` (R Appendix E).

    None where a gold answer would survive, or where none of its sentences would.
    """
    parts = sentences(passage.text)
    bad = [any(states(part, answer) for answer in answers) for part in parts]
    if not any(bad):
        return None
    # A topical passage that is shorter than what it replaces begins again.
    supply = cycle(topical.text.split())
    made = []
    for part, spoilt in zip(parts, bad, strict=True):
        made.append(" " + " ".join(islice(supply, len(part.split()))) if spoilt else part)
    text = "".join(made).strip()
    whole = f"{passage.title}\n{text}"
    if not text or any(states(whole, answer) for answer in answers):
        return None
    return Passage(id=f"{passage.id}-", text=text, title=passage.title, source=passage.source)


def names(text: str) -> list[str]:
    """Capitalised words that do not merely open a sentence, and numbers of two digits or more."""
    found = []
    for match in _NAME.finditer(text):
        name = match.group().strip()
        opens = match.start() == 0 or text[max(0, match.start() - 2) : match.start()].strip() in set(".!?\n")
        if len(name) >= _FEWEST_LETTERS and not (opens and " " not in name):
            found.append(name)
    return list(dict.fromkeys(found))


def other_question(
    example: Example, passage: Passage, strange: Sequence[str], draw: random.Random
) -> str | None:
    """The question with one of its names or numbers replaced by another of the same kind.

    The other one comes from the passage itself or from `strange`; it is neither in the question nor a gold
    answer. None where nothing can be replaced.
    """
    text = passage_text(passage)
    asked = example.question
    inside = [n for n in names(text) + names(asked[1:]) if states(asked, n) and not _common(n)]
    if not inside:
        return None
    replaced = draw.choice(sorted(set(inside)))
    digits = replaced[0].isdigit()
    answers = checkable(asked, example.answers) or example.answers
    pool = [
        name
        for name in (*names(text), *strange)
        if name[0].isdigit() == digits
        and not states(asked, name)
        and not any(states(name, answer) or states(answer, name) for answer in answers)
        and not states(name, replaced)
        and not states(replaced, name)
    ]
    if not pool:
        return None
    new = draw.choice(sorted(set(pool)))
    if asked == asked.lower():
        new = new.lower()
    made = re.sub(rf"(?<!\w){re.escape(replaced)}(?!\w)", lambda _: new, asked, count=1, flags=re.IGNORECASE)
    return made if words(made) != words(asked) else None


def _common(name: str) -> bool:
    return not any(len(word) > _FEWEST_LETTERS or word.isdigit() for word in words(name))
