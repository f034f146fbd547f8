import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.tools.normalisation import exact_match, f1, is_blank, normalise_answer


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Eiffel Tower.", "eiffel tower"),
        ("a\tGreen-house", "greenhouse"),
        ("an theatre", "theatre"),
        ("The", ""),
        ("", ""),
        ("Zürich’s", "zürich’s"),
    ],
)
def test_normalises_as_squad_does(text: str, normal: str) -> None:
    assert normalise_answer(text) == normal


def test_exact_match_takes_any_gold_answer() -> None:
    assert exact_match("the Tower!", ["bridge", "Tower"]) == 1.0
    assert exact_match("tower bridge", ["bridge", "Tower"]) == 0.0
    assert exact_match("anything", []) == 0.0


def test_f1_by_hand() -> None:
    # Shared {red, fox}, 3 predicted, 2 gold: 2 * 2 / 5.
    assert f1("the quick red fox", ["red fox"]) == pytest.approx(0.8)
    # Repeated words count as often as both sides have them: 2 * 1 / 4.
    assert f1("fox fox", ["fox den"]) == pytest.approx(0.5)
    assert f1("fox", ["den", "fox"]) == 1.0
    assert f1("", [""]) == 1.0
    assert f1("fox", [""]) == 0.0
    assert f1("fox", []) == 0.0


@given(st.text(), st.text())
def test_f1_is_symmetric_bounded_and_one_on_a_match(one: str, other: str) -> None:
    assert f1(one, [other]) == f1(other, [one])
    assert 0.0 <= f1(one, [other]) <= 1.0
    if exact_match(one, [other]):
        assert f1(one, [other]) == 1.0


@pytest.mark.parametrize(
    ("text", "blank"), [("", True), (" \n\x00", True), ("...", True), ("—", True), ("+", False), ("5", False)]
)
def test_blank_is_what_says_nothing(text: str, blank: bool) -> None:
    assert is_blank(text) is blank
