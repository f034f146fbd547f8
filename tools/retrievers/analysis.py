"""How text becomes terms: the one analyzer that writes the index and reads the queries.

Words are runs of letters, marks and digits. Scripts written without spaces (Han, kana, Hangul, Thai, Lao,
Khmer, Burmese) give one term a character, so that any part of a run can be found; emoji are terms of their
own. Then: lower case, accents folded to ASCII, English stop words out, English stems.
"""

from functools import cache
from typing import Final

import tantivy

from .spelling import normalise

ANALYZER: Final = (
    "words, unspaced scripts by character; lower case; ascii folding; English stop words and stems"
)
"""What `analyze` does, in words; stored in every index."""

TOKENIZER_VERSION: Final = 1
"""Raised whenever `analyze` gives other terms for some text; stored in every index."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_PATTERN = (
    rf"[{_UNSPACED}]\p{{M}}*"
    r"|\p{Regional_Indicator}{2}|\p{Extended_Pictographic}"
    rf"|[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]+"
)
_LONGEST_TERM = 80  # bytes; longer runs are hashes and base64, never asked for

# Function words of English: articles, pronouns, prepositions, conjunctions, auxiliaries and question words,
# and what an apostrophe leaves of a contraction.
_STOP_WORDS: Final = tuple(
    """
    a about above after again against all am an and any are as at be because been before being below
    between both but by can cannot could d did do does doing down during each few for from further had
    has have having he her here hers herself him himself his how i if in into is it its itself just ll m
    me more most my myself no nor not now of off on once only or other our ours ourselves out over own
    re s same she should so some such t than that the their theirs them themselves then there these they
    this those through to too under until up ve very was we were what when where which while who whom
    whose why will with would you your yours yourself yourselves
    """.split()  # noqa: SIM905  (150 quoted words read worse)
)


@cache
def analyzer() -> tantivy.TextAnalyzer:
    """The analyzer, built once a process; safe to use from many threads."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_PATTERN))
        .filter(tantivy.Filter.remove_long(_LONGEST_TERM))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.custom_stopword(list(_STOP_WORDS)))
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def analyze(text: str) -> list[str]:
    """The terms of `text` in order, with repetitions; [] if it holds stop words and punctuation only."""
    return analyzer().analyze(normalise(text))
