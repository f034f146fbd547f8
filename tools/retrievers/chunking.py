"""Cutting a document into passages of about 100 words at sentence ends.

A document of up to 150 words is one passage. A longer one is cut into round(words / 100) passages of nearly
equal length, each cut at the sentence end nearest to where it should fall. Every passage is a span of the
document: nothing is rewritten.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

PASSAGE_WORDS = 100
"""Words a passage should have."""

WHOLE_WORDS = 150
"""A document of at most this many words stays whole."""

# Two characters of an unspaced script count as a word; so do 40 characters of a run without spaces, so that
# no passage is of unbounded length.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\s{_UNSPACED}]{{1,40}}")

# A sentence ends at its stop and closing quotes before white space, at an ideographic full stop, at an empty
# line, or before a line that begins a heading, list item, quotation or table row.
_SENTENCE_END = re.compile(
    r"""(?<=[.!?…])["'”’»)\]]*(?=\s)|[。！？]["'”’」』）]*|\n\s*\n|\n(?=[ \t]*(?:[#>|*+•-]|\d+[.)]\s))"""
)
# A stop after an initial or one of these abbreviations ends no sentence.
_ABBREVIATION = re.compile(
    r"(?:\b[A-Za-z]|\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|no|fig|al|cf|inc|ltd|co|corp|gen|col|lt|sgt|rev|hon|approx))\.$",
    re.IGNORECASE,
)
_ABBREVIATION_REACH = 12  # characters before a stop that can decide whether it is an abbreviation's


class Span(NamedTuple):
    """Characters [start, end) of a document."""

    start: int
    end: int


def passage_spans(text: str, start: int = 0) -> list[Span]:
    """Spans of the passages of text[start:], in order, none empty, without white space at either end.

    Together they hold every character of text[start:] but white space between them. [] if there is none.
    """
    words = [Span(*found.span()) for found in _WORD.finditer(text, start)]
    if not words:
        return []
    count = 1 if len(words) <= WHOLE_WORDS else round(len(words) / PASSAGE_WORDS)
    ends = _sentence_ends(text, words) if count > 1 else []
    cuts = [0, *_cuts(ends, len(words), count), len(words)]
    return [Span(words[a].start, words[b - 1].end) for a, b in pairwise(cuts)]


def _cuts(ends: list[int], words: int, count: int) -> Iterator[int]:
    """Word positions at which to cut `words` words into `count` passages: sentence ends, where one is near.

    A cut lies at most half a passage from its even place; where no sentence ends there, it is the even place.
    """
    size = words / count
    at, last = 0, 0
    for n in range(1, count):
        ideal = n * size
        while at + 1 < len(ends) and abs(ends[at + 1] - ideal) <= abs(ends[at] - ideal):
            at += 1
        near = bool(ends) and abs(ends[at] - ideal) <= size / 2 and ends[at] > last
        last = ends[at] if near else max(last + 1, round(ideal))
        if last < words:
            yield last


def _sentence_ends(text: str, words: list[Span]) -> list[int]:
    """Numbers of words that stand before each sentence end inside `words`, ascending, without repetition."""
    ends: list[int] = []
    position = 0
    for found in _SENTENCE_END.finditer(text, words[0].start):
        if _continues(text, found):
            continue
        while position < len(words) and words[position].start < found.end():
            position += 1
        if 0 < position < len(words) and (not ends or ends[-1] != position):
            ends.append(position)
    return ends


def _continues(text: str, found: re.Match[str]) -> bool:
    """Whether what looks like a sentence end is none: after an abbreviation or a heading."""
    at = found.start()
    if found.group().startswith("\n"):
        return text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith("#")
    return _ABBREVIATION.search(text[max(0, at - _ABBREVIATION_REACH) : at]) is not None
