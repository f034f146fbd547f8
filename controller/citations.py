"""From an answer and its evidence to citations: which passages carry it, and in which sentence."""

import re
from collections.abc import Sequence

from ..tools.normalisation import normalise_answer
from ..tools.types import Passage
from .answer import Citation

_SENTENCE = re.compile(r"\S.*?(?:[.!?。！？](?=\s|$)|\n|$)", re.DOTALL)


def cite(question: str, answer: str, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """Citations of `answer` among the passages its generator read.

    The passages that contain the normalised answer, each with the sentence that does; where none does (a yes,
    a no, a rephrasing) every passage, each with the sentence that shares most words with question and answer.
    """
    wanted = normalise_answer(answer)
    carrying = [p for p in passages if wanted and f" {wanted} " in f" {normalise_answer(p.text)} "]
    words = set(normalise_answer(f"{question} {answer}").split())
    return tuple(_citation(passage, wanted, words) for passage in carrying or passages)


def _citation(passage: Passage, wanted: str, words: set[str]) -> Citation:
    start, end = max(
        _sentences(passage.text), key=lambda span: _support(passage.text[slice(*span)], wanted, words)
    )
    return Citation(
        id=passage.id,
        source=passage.source,
        title=passage.title,
        url=passage.url,
        text=passage.text[start:end],
        start=start,
        end=end,
    )


def _sentences(text: str) -> list[tuple[int, int]]:
    spans = [
        (match.start(), match.start() + len(match.group().rstrip())) for match in _SENTENCE.finditer(text)
    ]
    return spans or [(0, len(text))]


def _support(sentence: str, wanted: str, words: set[str]) -> tuple[bool, int]:
    normalised = normalise_answer(sentence)
    return (bool(wanted) and f" {wanted} " in f" {normalised} ", len(words & set(normalised.split())))
