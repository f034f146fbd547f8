"""The next query: what the evidence covers least, with the question's own entities. No model is called."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from .types import SufficiencyReport, WindowCoverage

# A word with its inner marks (O'Brien, 3.5, Jean-Luc). Chinese and Japanese signs stand alone, as WordPiece
# has them.
_IDEOGRAPH = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
_WORD = re.compile(rf"{_IDEOGRAPH}|(?:(?!{_IDEOGRAPH})\w)+(?:['’.,\-/&](?:(?!{_IDEOGRAPH})\w)+)*")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]+)[\"”“»]")


class UncoveredWindows:
    """Asks the first of these whose normalised text was not asked yet: the question's entities with the two
    least covered windows, with each window that is not fully covered, and alone.

    The least covered window comes first: that of least overlap, then of least relevance. Without a coverage
    profile, as when a search found nothing, the entities are all there is to try.
    """

    def next(self, question: str, report: SufficiencyReport, history: Sequence[str]) -> str | None:
        """A query whose normalised text is neither the question's nor in `history`, or None."""
        asked = {normalise_query(query) for query in (question, *history)} | {""}
        for candidate in _candidates(question, report.coverage):
            if normalise_query(candidate) not in asked:
                return candidate
        return None


def normalise_query(text: str) -> str:
    """Case, width, punctuation and spacing removed: two queries equal after this are the same query."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _candidates(question: str, coverage: Sequence[WindowCoverage]) -> Iterator[str]:
    words = list(_WORD.finditer(question))
    entities = _entities(question, words)
    open_windows = [window for window in coverage if window.overlap < 1.0]
    open_windows.sort(key=lambda window: (window.overlap, window.relevance))
    for windows in (open_windows[:2], *([window] for window in open_windows)):
        wanted = entities.union(*(_located(words, window.text) for window in windows))
        yield " ".join(words[i].group() for i in sorted(wanted))
    yield " ".join(words[i].group() for i in sorted(entities))


def _entities(question: str, words: Sequence[re.Match[str]]) -> set[int]:
    """Indices of words that name something: capitalised, with a digit, or inside quotation marks.

    The first word is capitalised in any case and counts only before another capital; scripts without case
    have their quotations and numbers.
    """
    named = {i for i, word in enumerate(words) if _names(word.group())}
    if 0 in named and words[0].group()[1:].islower() and 1 not in named:
        named.discard(0)
    for quotation in _QUOTED.finditer(question):
        named |= {i for i, word in enumerate(words) if _inside(word, quotation)}
    return named


def _names(word: str) -> bool:
    return any(character.isupper() or character.isdigit() for character in word)


def _inside(word: re.Match[str], quotation: re.Match[str]) -> bool:
    return quotation.start() <= word.start() and word.end() <= quotation.end()


def _located(words: Sequence[re.Match[str]], window: str) -> set[int]:
    """Indices of the question's words that a window touches, whole words even where it begins inside one.

    Window and question are compared as WordPiece sees them, lower-case, without accents and spaces.
    """
    letters = [_letters(word.group()) for word in words]
    owner = [i for i, text in enumerate(letters) for _ in text]
    wanted = _letters(window)
    start = "".join(letters).find(wanted)
    return set(owner[start : start + len(wanted)]) if wanted and start >= 0 else set()


def _letters(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in decomposed if c.isalnum())
