import numpy as np
import pytest
from sufficit.controller.evaluation.contrasts.lexical import LexicalIndex

DOCUMENTS = [["red", "mill"], ["red", "red", "bridge", "over", "water"], ["blue", "sky"]]


def test_bm25_is_the_formula() -> None:
    scores = LexicalIndex(DOCUMENTS).bm25(["red", "unknown"])
    idf = np.log1p((3 - 2 + 0.5) / (2 + 0.5))
    lengths, counts = np.array([2, 5, 2]), np.array([1, 2, 0])
    expected = idf * counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * lengths / 3))
    assert scores == pytest.approx(expected)


def test_coverage_is_a_share_of_weight() -> None:
    coverage = LexicalIndex(DOCUMENTS).coverage(["mill", "sky", "blue", "mill"])
    rare, common = np.log1p(2.5 / 1.5), np.log1p(1.5 / 2.5)
    assert coverage == pytest.approx([rare / (rare + common), 0.0, 1.0])


def test_empty_documents_are_harmless() -> None:
    assert LexicalIndex([[], ["a"]]).coverage(["a"]).tolist() == pytest.approx([0.0, 1.0])
    assert LexicalIndex([]).bm25(["a"]).size == 0
