import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.tools.web.ranking import relevance, words


def test_words():
    assert words("The RHINE's source: Straße_1, 莱茵河 e.g.") == [
        *("the", "rhine", "s", "source", "strasse", "1", "莱", "茵", "河", "e", "g")
    ]


def test_bm25_of_a_worked_example():
    texts = [["rhine", "alps", "rhine"], ["po", "alps"], ["bread"]]
    rhine, po, bread = relevance(["rhine", "alps", "alps"], texts)
    # idf(rhine) = ln(1 + 2.5/1.5), idf(alps) = ln(1 + 1.5/2.5); lengths 3, 2, 1 with mean 2.
    assert rhine == pytest.approx(
        0.980829 * 2 * 2.2 / (2 + 1.2 * 1.375) + 0.470004 * 2.2 / (1 + 1.2 * 1.375), abs=1e-5
    )
    assert po == pytest.approx(0.470004 * 2.2 / 2.2, abs=1e-5)
    assert bread == 0


def test_nothing_to_rank():
    assert relevance(["x"], []) == []
    assert relevance(["x"], [[], []]) == [0, 0]


@given(st.lists(st.sampled_from("abc")), st.lists(st.lists(st.sampled_from("abcd"))))
def test_scores_are_positive_where_words_are_shared(query: list[str], texts: list[list[str]]):
    for text, score in zip(texts, relevance(query, texts), strict=True):
        assert (score > 0) == bool(set(query) & set(text))
