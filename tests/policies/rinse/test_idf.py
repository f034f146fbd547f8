import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.policies.rinse.idf import PieceCounts


def test_counts_a_piece_once_a_passage_and_matches_the_formula():
    counts = PieceCounts.of([["the", "the", "king"], ["the", "queen"], ["the"]])
    assert counts.documents == 3
    idf = counts.idf(["the", "king", "unseen"])
    expected = [math.log1p((3 - df + 0.5) / (df + 0.5)) for df in (3, 1, 0)]
    assert idf.tolist() == pytest.approx(expected)


def test_an_unseen_piece_weighs_most():
    counts = PieceCounts.of([["a", "b"], ["a"]])
    seen, unseen = counts.idf(["b", "zebra"])
    assert unseen > seen


def test_sum_equals_counting_everything_at_once():
    first, second = [["a", "b"], ["a"]], [["b", "c"]]
    assert PieceCounts.sum([PieceCounts.of(first), PieceCounts.of(second)]) == PieceCounts.of(first + second)


@given(st.lists(st.lists(st.sampled_from("abcdef")), max_size=20))
def test_idf_is_positive_and_falls_with_frequency(documents):
    counts = PieceCounts.of(documents)
    pieces = sorted("abcdef", key=lambda piece: counts.counts.get(piece, 0))
    idf = counts.idf(pieces)
    assert (idf > 0).all()
    assert all(first >= second for first, second in pairwise(idf))
