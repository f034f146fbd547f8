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


# Kana, Hangul, Thai, Lao, Khmer and Burmese: scripts that Lucene's tokenizer keeps in runs.
_RUNS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\uac00-\ud7af]")


def spaced(text: str) -> str:
    """`text` with spaces between characters of scripts written without: any part of a run is found."""
    return text if text.isascii() else _RUNS.sub(r" \g<0> ", text)


def encodable(text: str) -> str:
    """`text` with lone surrogates, which are no characters, as question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
