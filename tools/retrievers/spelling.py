"""Text in one spelling, so that a word is found however it was typed."""

import re
import unicodedata

# Vowel points of Hebrew and Arabic, tatweel, joiners and variation selectors: writers leave them out at will.
# Lone surrogates cannot be UTF-8 and are dropped with them.
_OPTIONAL_MARKS = re.compile(
    "[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200c\u200d\ufe00-\ufe0f\ud800-\udfff]"
)


def normalise(text: str) -> str:
    """`text` in one spelling: NFKC, without optional marks and lone surrogates. Never fails."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _OPTIONAL_MARKS.sub("", text))
