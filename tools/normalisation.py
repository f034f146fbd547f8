"""SQuAD's normalisation of answers, exact match and F1 (Rajpurkar et al., 2016); when an answer is blank."""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise_answer(text: str) -> str:
    """Lower-case, drop ASCII punctuation and English articles, collapse white space."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """1.0 if the prediction equals one of the gold answers after normalisation, else 0.0."""
    return float(normalise_answer(prediction) in {normalise_answer(answer) for answer in answers})


def f1(prediction: str, answers: Sequence[str]) -> float:
    """Token F1 in [0, 1] with the gold answer that fits best; 0.0 without gold answers."""
    return max((_f1(prediction, answer) for answer in answers), default=0.0)


def _f1(prediction: str, answer: str) -> float:
    predicted, gold = normalise_answer(prediction).split(), normalise_answer(answer).split()
    if not predicted or not gold:
        # SQuAD 2.0: where either side is empty, F1 is agreement.
        return float(predicted == gold)
    shared = (Counter(predicted) & Counter(gold)).total()
    return 2 * shared / (len(predicted) + len(gold))


def is_blank(text: str) -> bool:
    """Whether a text says nothing: only white space, control characters and punctuation.

    Symbols such as "+" or "€" can be answers and are not blank.
    """
    return all(unicodedata.category(character)[0] in "ZCP" for character in text)
