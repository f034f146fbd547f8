import pytest
from sufficit.tools.retrievers.spelling import encodable, normalise, spaced


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("cafe\u0301", "caf\u00e9"),
        ("ﬁre", "fire"),
        ("القاهرةُ", "القاهرة"),
        ("👩\u200d🚒\ufe0f", "👩🚒"),
        ("a\ud800b", "ab"),
    ],
)
def test_one_spelling(written: str, same: str):
    assert normalise(written) == normalise(same) == same


@pytest.mark.parametrize("text", ["plain words", "naïve 灯台", "مدينة"])
def test_scripts_that_lucene_parts_itself_stay(text: str):
    assert spaced(text) == text


def test_every_character_of_a_run_is_a_word():
    assert spaced("서울은 수도").split() == list("서울은수도")
    assert spaced("タワー") == " タ  ワ  ー "


def test_lone_surrogates_become_question_marks():
    assert encodable("a\ud800\U0001f355") == "a?\U0001f355"
    assert encodable("abc") == "abc"
