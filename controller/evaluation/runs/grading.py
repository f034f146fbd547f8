"""How right a row is: exact match and F1 as in SQuAD 2.0's published evaluation, and accuracy within.

A gold answer that is nothing but articles and punctuation ("A") is left out, as there; a question without
gold answers is right where nothing is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ....tools.normalisation import exact_match, f1, normalise_answer
from .rows import PredictionRow

_POLAR = frozenset({"yes", "no"})


@dataclass(frozen=True, slots=True)
class Grade:
    """Exact match, F1 and accuracy within the answer, each in [0, 1]."""

    exact: float
    f1: float
    within: float

    @property
    def right(self) -> bool:
        """Whether the answer counts as right: a gold answer is it, or stands in it."""
        return self.within == 1


WRONG = Grade(0.0, 0.0, 0.0)
RIGHT = Grade(1.0, 1.0, 1.0)


def grade_text(prediction: str, answers: Sequence[str]) -> Grade:
    """A text against gold answers, the best of which counts; () where the question has none."""
    golds = [answer for answer in answers if normalise_answer(answer)] or [""]
    return Grade(exact_match(prediction, golds), f1(prediction, golds), _within(prediction, golds))


def _within(prediction: str, golds: Sequence[str]) -> float:
    """1.0 where a gold answer stands in the prediction word for word, both normalised.

    A yes or no must be its first word, since either can stand in any sentence.
    """
    said = normalise_answer(prediction)
    wanted = {normalise_answer(gold) for gold in golds}
    polar = wanted & _POLAR
    stands = any(gold and f" {gold} " in f" {said} " for gold in wanted - polar)
    return float(stands or said in wanted or said.partition(" ")[0] in polar)


def gradable(row: PredictionRow) -> bool:
    """Whether there is something to grade against: gold answers, or that the question has no answer."""
    return row.answerable is False or bool(row.answers)


def grade(row: PredictionRow) -> Grade:
    """The grade of a gradable row.

    A row that failed is wrong. Abstaining is right where the question has no answer, and wrong where it has
    one, whatever that answer is.
    """
    golds = () if row.answerable is False else row.answers
    if row.action == "failed":
        return WRONG
    if row.action == "abstain":
        return WRONG if golds else RIGHT
    return grade_text(row.answer or "", golds)
