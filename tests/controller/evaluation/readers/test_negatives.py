import random
from dataclasses import replace

from sufficit.controller.evaluation.datasets.examples import Example, make_passage
from sufficit.controller.evaluation.readers.negatives import (
    answer_spans,
    names,
    other_question,
    without_answer,
)

MILL = make_passage("Old Mill", "The mill stands in Arden. Orla Quist built it in 1820. It is white.")
TOPICAL = make_passage("New Mill", "A mill of brick grinds oats for the whole valley every autumn day.")


def example(question: str, answer: str) -> Example:
    return Example("e", question, (answer,), (MILL,), frozenset({0}))


def test_answers_are_found_as_words():
    text = "Ann met Anna. ann  Lee came."
    assert answer_spans(text, ["Ann Lee", "Ann"]) == ((14, 22), (0, 3), (14, 17))
    assert answer_spans(text, ["nn"]) == ()
    assert answer_spans("it cost $5 (five)", ["$5"]) == ((8, 10),)


def test_the_answer_sentence_gives_way_to_as_many_words():
    spoilt = without_answer(MILL, ["Orla Quist"], TOPICAL)
    assert spoilt is not None
    assert spoilt.text == "The mill stands in Arden. A mill of brick grinds oats It is white."
    assert spoilt.title == MILL.title
    assert spoilt.id != MILL.id


def test_a_short_topical_passage_begins_again():
    spoilt = without_answer(MILL, ["Orla Quist"], replace(TOPICAL, text="Oats grow."))
    assert spoilt is not None
    assert len(spoilt.text.split()) == len(MILL.text.split())


def test_a_negative_in_which_an_answer_survives_is_dropped():
    assert without_answer(MILL, ["mill"], TOPICAL) is None  # in the title, and in what replaces it
    assert without_answer(MILL, ["Ines Roth"], TOPICAL) is None  # nothing to take away


def test_names_and_numbers():
    found = names(
        "The mill of Orla Quist in Arden was built in 1820. Later it burned. Museum of Modern Art, 3 km"
    )
    assert found == ["Orla Quist", "Arden", "1820", "Museum of Modern Art"]


def test_a_question_is_asked_about_something_else():
    made = other_question(
        example("Who built the mill in Arden?", "Orla Quist"), MILL, ["Belmar"], random.Random(0)
    )
    assert made in {"Who built the mill in Belmar?", "Who built the mill in Old Mill?"}
    lower = other_question(
        example("who built the mill in arden", "Orla Quist"), MILL, ["Belmar"], random.Random(0)
    )
    assert lower in {"who built the mill in belmar", "who built the mill in old mill"}


def test_numbers_give_way_to_numbers():
    made = other_question(
        example("Who built the mill in 1820?", "Orla Quist"), MILL, ["Belmar", "1911"], random.Random(0)
    )
    assert made == "Who built the mill in 1911?"


def test_the_answer_never_enters_the_question():
    for seed in range(5):
        made = other_question(
            example("Who built the mill in Arden?", "Orla Quist"), MILL, [], random.Random(seed)
        )
        assert made is None or "Quist" not in made


def test_a_question_without_names_stays():
    assert other_question(example("who built it", "Orla Quist"), MILL, ["Belmar"], random.Random(0)) is None
