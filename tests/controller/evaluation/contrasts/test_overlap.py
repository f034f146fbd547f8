import pytest
from sufficit.controller.evaluation.contrasts.overlap import checkable, holds, repeats, states, words
from sufficit.controller.evaluation.datasets.examples import make_passage


def test_words_drop_case_accents_punctuation_and_articles() -> None:
    assert words("The Röntgen-Ray: a U.S. idea, 1,000 ﬁlms") == (
        "rontgen", "ray", "u", "s", "idea", "1", "000", "films",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("A New York-based firm.", "New York", True),
        ("The king's horse", "King", True),
        ("Yorkshire", "York", False),
        ("It was in May, 2018", "the May 2018", True),
        ("anything", "", False),
        ("anything", "the", False),
    ],
)
def test_states(text: str, phrase: str, expected: bool) -> None:
    assert states(text, phrase) is expected


def test_the_title_counts() -> None:
    assert holds(make_passage("Paris", "A city."), ["Rome", "Paris"])
    assert not holds(make_passage("Paris", "A city."), ["Paris city"])
    assert not holds(make_passage("Paris", "A city."), [])


def test_checkable_answers() -> None:
    assert checkable("Who wrote it?", ("Mara Venn", "Venn", "?")) == ("Mara Venn", "Venn")
    assert checkable("Are both red?", ("Yes",)) == ()
    assert checkable("Is Ada or Ben older?", ("Ben", "Benjamin")) == ()
    assert checkable("Who?", ()) == ()


def test_repeats() -> None:
    text = "the mill on the river was built in 1820 by a man whose name nobody knows"
    passage = make_passage("Mill", text)
    assert repeats(passage, make_passage("Other", f"Some words before. {text} And some after."))
    assert repeats(make_passage("a", "Two words"), make_passage("b", "two words!"))
    assert not repeats(passage, make_passage("Mill", "the mill on the river was torn down by its last owner"))
