"""Grades are those of the published evaluation, on its edge cases."""

import collections
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prediction_rows import row
from sufficit.controller.evaluation.runs.grading import Grade, gradable, grade, grade_text


def published(prediction: str, golds: list[str]) -> tuple[float, float]:
    """Exact match and F1 by the rules of SQuAD 2.0's evaluate-v2.0, written out plainly."""

    def normalise(text):
        text = "".join(c for c in text.lower() if c not in set(string.punctuation))
        text = re.sub(re.compile(r"\b(a|an|the)\b", re.UNICODE), " ", text)
        return " ".join(text.split())

    def token_f1(gold, said):
        gold_tokens, tokens = normalise(gold).split(), normalise(said).split()
        if not gold_tokens or not tokens:
            return float(gold_tokens == tokens)
        same = sum((collections.Counter(gold_tokens) & collections.Counter(tokens)).values())
        if same == 0:
            return 0.0
        precision, recall = same / len(tokens), same / len(gold_tokens)
        return 2 * precision * recall / (precision + recall)

    kept = [gold for gold in golds if normalise(gold)] or [""]
    exact = max(float(normalise(gold) == normalise(prediction)) for gold in kept)
    return exact, max(token_f1(gold, prediction) for gold in kept)


CASES = {
    "articles": ("The Eiffel Tower", ["an Eiffel Tower"], (1, 1, 1)),
    "an article inside a word stays": ("theatre", ["atre"], (0, 0, 0)),
    "punctuation joins words": ("well-known!", ["wellknown"], (1, 1, 1)),
    "punctuation alone says nothing": ("...", [], (1, 1, 1)),
    "Unicode punctuation stays": ("Zürich’s", ["Zürichs"], (0, 0, 0)),
    "Unicode is not folded": ("Zurich", ["Zürich"], (0, 0, 0)),
    "Unicode white space splits": ("red\u00a0fox", ["red fox"], (1, 1, 1)),
    "sharp s": ("STRASSE", ["straße"], (0, 0, 0)),
    "A as an answer is no gold answer": ("B", ["A"], (0, 0, 0)),
    "A as a prediction says nothing": ("A", ["A"], (1, 1, 1)),
    "A beside another gold answer is left out": ("a", ["A", "vitamin A"], (0, 0, 0)),
    "no gold, nothing said": ("", [], (1, 1, 1)),
    "no gold, something said": ("Paris", [], (0, 0, 0)),
    "an empty gold answer": ("Paris", ["", "Paris"], (1, 1, 1)),
    "nothing said, a gold answer": ("", ["Paris"], (0, 0, 0)),
    "the best of several golds": ("27 days", ["days", "27 days off"], (0, 0.8, 1)),
    "the gold within a sentence": ("It is 27 days.", ["27 days"], (0, 2 * 2 / 6, 1)),
    "within is by words": ("a party", ["art"], (0, 0, 0)),
    "yes": ("Yes.", ["yes"], (1, 1, 1)),
    "yes, explained": ("Yes, it does", ["yes"], (0, 0.5, 1)),
    "no within is not enough": ("There is no doubt: yes", ["no"], (0, 1 / 3, 0)),
    "no is not in know": ("I do not know", ["no"], (0, 0, 0)),
    "repeated words": ("fox fox fox", ["fox"], (0, 0.5, 1)),
}


@pytest.mark.parametrize(("said", "golds", "wanted"), CASES.values(), ids=CASES.keys())
def test_edge_cases_by_hand_and_as_published(said, golds, wanted):
    found = grade_text(said, golds)
    assert (found.exact, found.f1, found.within) == pytest.approx(wanted)
    assert (found.exact, found.f1) == pytest.approx(published(said, golds))


WORDS = st.lists(
    st.sampled_from(["the", "A", "yes", "no", "fox", "Fox.", "é", "…", "-", "\u00a0"]), max_size=5
)


@given(WORDS.map(" ".join), st.lists(WORDS.map(" ".join), max_size=3))
def test_grades_are_the_published_ones_whatever_is_said(said, golds):
    found = grade_text(said, golds)
    assert (found.exact, found.f1) == pytest.approx(published(said, golds))
    assert found.within >= found.exact


def test_abstaining_is_right_where_there_is_no_answer_alone():
    assert grade(row("q", action="abstain", answers=(), answerable=False)) == Grade(1, 1, 1)
    # What MuSiQue gives as the answer of an unanswerable question is none.
    assert grade(row("q", action="abstain", answers=("Paris",), answerable=False)).right
    assert not grade(row("q", answer="Paris", answers=("Paris",), answerable=False)).right
    assert not grade(row("q", action="abstain", answers=("Paris",))).right
    # By its text alone nothing would be the published answer to "A"; a run that abstains has not given it.
    assert not grade(row("q", action="abstain", answers=("A",))).right
    assert grade(row("q", answer="A", answers=("A",))).right


def test_a_failed_row_is_wrong_even_where_silence_is_right():
    assert not grade(row("q", action="failed", answers=(), answerable=False)).right


def test_what_has_neither_answers_nor_a_word_on_them_is_not_graded():
    assert not gradable(row("q", answers=(), answerable=None))
    assert gradable(row("q", answers=(), answerable=False))
    assert gradable(row("q", answers=("x",), answerable=None))
