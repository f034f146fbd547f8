"""BM25 over the few texts of one visit, without an index."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_K1: Final = 1.2
_B: Final = 0.75
# Scripts written without spaces give one word a character.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


def words(text: str) -> list[str]:
    """The words of a text, case folded, in order."""
    return _WORD.findall(text.casefold())


def relevance(query: Sequence[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """BM25 of the query with each text, document frequencies taken among the texts themselves."""
    counts = [Counter(text) for text in texts]
    wanted = sorted(set(query))
    held = {word: sum(word in count for count in counts) for word in wanted}
    mean = sum(map(len, texts)) / len(texts) if texts else 0.0
    scores = []
    for text, count in zip(texts, counts, strict=True):
        norm = _K1 * (1 - _B + _B * len(text) / mean) if mean else _K1
        score = 0.0
        for word in wanted:
            if count[word]:
                idf = math.log(1 + (len(texts) - held[word] + 0.5) / (held[word] + 0.5))
                score += idf * count[word] * (_K1 + 1) / (count[word] + norm)
        scores.append(score)
    return scores
