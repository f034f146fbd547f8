"""The words of a question that name something. No model is called."""

import re

_WORD = re.compile(r"\w+(?:['’.,\-/&]\w+)*")
_SENTENCE_ENDS = ".?!:;"


def names(question: str) -> tuple[str, ...]:
    """Words with a capital or a digit, each once, in their order; not for a capital that begins a sentence.

    Scripts without case have their numbers alone.
    """
    found = (word for word in _WORD.finditer(question) if _names(question, word))
    return tuple(dict.fromkeys(word.group() for word in found))


def _names(question: str, word: re.Match[str]) -> bool:
    text, before = word.group(), question[: word.start()].rstrip()
    begins = not before or before[-1] in _SENTENCE_ENDS
    return any(map(str.isdigit, text)) or (not begins and any(map(str.isupper, text)))
