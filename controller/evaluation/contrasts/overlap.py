"""Whether a text states something: matches of normalised words, wide rather than narrow.

These checks keep an insufficient side insufficient: a match too many costs a group, one too few falsifies a
label.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from ....tools.types import Passage

_WORD = re.compile(r"\w+")
_ARTICLES = frozenset({"a", "an", "the"})
_SHINGLE = 5
_DUPLICATE = 0.5
_UNCHECKABLE = frozenset({"yes", "no", ""})


@lru_cache(maxsize=65_536)
def words(text: str) -> tuple[str, ...]:
    """Words in lower case, without accents, punctuation and articles."""
    plain = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return tuple(word for word in _WORD.findall(plain) if word not in _ARTICLES)


def states(text: str, phrase: str) -> bool:
    """Whether the words of `phrase` stand in `text`, side by side; never for a phrase without words."""
    wanted = " ".join(words(phrase))
    return bool(wanted) and f" {wanted} " in f" {' '.join(words(text))} "


def holds(passage: Passage, phrases: Iterable[str]) -> bool:
    """Whether the title or the text of a passage states one of the phrases."""
    return any(states(passage.title, phrase) or states(passage.text, phrase) for phrase in phrases)


def checkable(question: str, answers: tuple[str, ...]) -> tuple[str, ...]:
    """The answers whose presence in a passage tells something; () for yes, no, or what the question names."""
    if not answers or states(question, answers[0]) or " ".join(words(answers[0])) in _UNCHECKABLE:
        return ()
    return tuple(answer for answer in answers if words(answer) and not states(question, answer))


def repeats(passage: Passage, other: Passage) -> bool:
    """Whether half of the five-word stretches of the shorter passage stand in the other, too."""
    first, second = _shingles(passage.text), _shingles(other.text)
    smaller = min(len(first), len(second))
    return smaller > 0 and len(first & second) >= _DUPLICATE * smaller


def _shingles(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    size = min(_SHINGLE, max(1, len(found)))
    return {found[start : start + size] for start in range(len(found) - size + 1)}
