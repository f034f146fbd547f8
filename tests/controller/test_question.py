import pytest
from sufficit.controller.question import checked_question
from sufficit.tools.errors import InputError


def test_space_around_a_question_does_not_count():
    assert checked_question(" \n Who?\t", 4) == "Who?"


@pytest.mark.parametrize("question", ["", " \n\t", "\u3000"])
def test_nothing_but_space_is_no_question(question):
    with pytest.raises(InputError, match="empty"):
        checked_question(question, 10)


def test_the_limit_is_in_characters_and_is_still_allowed():
    assert checked_question("\u00e9" * 1000, 1000) == "\u00e9" * 1000
    with pytest.raises(InputError, match="has 1,001 characters, at most 1,000 are read"):
        checked_question("\u00e9" * 1001, 1000)


def test_what_is_no_unicode_becomes_a_question_mark():
    assert checked_question("caf\udce9?", 10) == "caf??"
