"""Samples of questions that stay the same from run to run."""

import hashlib
from collections.abc import Sequence

from .questions import Question


def sample(questions: Sequence[Question], count: int | None) -> list[Question]:
    """`count` questions in the order of the file, all where it is None.

    They are drawn by a hash of their ids, so that a larger sample holds a smaller one.
    """
    if count is None or count >= len(questions):
        return list(questions)
    drawn = sorted(questions, key=lambda q: hashlib.sha256(q.id.encode()).digest())[:count]
    chosen = {question.id for question in drawn}
    return [question for question in questions if question.id in chosen]
