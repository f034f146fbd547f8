import math

import numpy as np
import pytest
from sufficit.policies.kept_for import KeptFor, KeptSet
from sufficit.policies.rinse.idf import PieceCounts
from sufficit.tools.types import Passage

NEED = "When was Ada Lovelace born?"
KEPT = KeptSet(NEED, (Passage("0", "Ada Lovelace was born in London in 1815.", "Ada Lovelace"),))


class Words:
    """Words as pieces."""

    def pieces(self, text: str) -> list[str]:
        return text.lower().replace("?", " ?").replace(".", " .").split()

    def join(self, pieces) -> str:
        return " ".join(pieces)


class Encoder:
    """The same cosine for any two questions but the same."""

    fingerprint = "f"

    def __init__(self, cosine: float = 0.9) -> None:
        self.cosine = cosine

    async def score(self, queries, texts):
        return np.array([[1.0 if q == t else self.cosine for t in texts] for q in queries], np.float32)


def kept_for(threshold: float = 0.85) -> KeptFor:
    # No piece was counted, so all weigh the same.
    return KeptFor(Encoder(), Words(), PieceCounts(10, {}), threshold)


def test_the_score_is_the_cosine_of_a_question_with_nothing_new():
    match = kept_for().match("Born when was Ada Lovelace?", KEPT, 0.9)
    assert (match.covered, match.uncovered, match.missing) == (0, 0, ())
    assert match.score == pytest.approx(0.9)
    assert match.serves


def test_what_the_passages_say_beyond_the_need_counts_for_them():
    match = kept_for().match("Was Ada Lovelace born in London?", KEPT, 0.8)
    assert match.covered == pytest.approx(2 / 6)
    assert match.score == pytest.approx(1 - 0.2 * math.exp(-2 * 2 / 6))
    assert match.serves
    # Words that name nothing and stand nowhere change nothing: a question may be put in many ways.
    assert kept_for().match("Please tell me: was Ada Lovelace born?", KEPT, 0.8).score == pytest.approx(0.8)


def test_a_name_that_nothing_here_names_counts_against_them():
    match = kept_for().match("When was Ada Byron born?", KEPT, 0.9)
    assert match.missing == ("Byron",)
    assert match.uncovered == pytest.approx(1 / 5)
    assert match.score == pytest.approx(1 - 0.1 * math.exp(3 / 5))
    assert not match.serves


async def test_the_best_of_several_is_taken_and_the_same_question_is_sure():
    other = KeptSet("When was Ada Byron born?", KEPT.passages)
    best = await kept_for().best("When was Ada Byron born?", [KEPT, other])
    assert best.kept is other
    assert best.score == 1.0
    assert await kept_for().best(NEED, []) is None


def test_a_cosine_above_one_by_rounding_is_one():
    assert kept_for().match(NEED, KEPT, 1.0000002).score == 1.0


def test_a_question_of_punctuation_is_matched_too():
    assert kept_for().match("?", KEPT, 0.1).score == pytest.approx(0.1)
