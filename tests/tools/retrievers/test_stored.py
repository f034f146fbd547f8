from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.tools.retrievers.stored import from_payload, key_digest, source_digest, to_payload
from sufficit.tools.types import Passage, PassageKey

WHOLE = Passage(
    "1", "Text\x00 \ud800 \U0001f600", "T\u00e9", "doc", "https://x.example/", 0.5, {"n": 3, "f": 1.5}
)


def test_a_passage_comes_back_with_the_score_of_the_search():
    payload = to_payload(WHOLE)
    assert payload.isascii()
    assert from_payload(payload, 2.0) == replace(WHOLE, score=2.0)
    assert from_payload(payload.encode("ascii"), 2.0) == replace(WHOLE, score=2.0)


def test_the_score_of_another_search_is_not_stored():
    assert to_payload(WHOLE) == to_payload(replace(WHOLE, score=None))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "bc"), ("ab", "c")),
        (("a", ":b"), ("a:", "b")),
        (("", "1:a"), ("1:a", "")),
        (("1", "1"), ("11", "")),
        (("a", ""), ("", "a")),
        (("\ud800", ""), ("\udfff", "")),
    ],
)
def test_keys_that_run_together_have_terms_of_their_own(one, other):
    assert key_digest(PassageKey(*one)) != key_digest(PassageKey(*other))


PARTS = st.text("0:a", max_size=3)


@given(PARTS, PARTS, PARTS, PARTS)
def test_no_two_keys_give_one_term(source, id_, other_source, other_id):
    one, other = PassageKey(source, id_), PassageKey(other_source, other_id)
    assert (key_digest(one) == key_digest(other)) == (one == other)


def test_terms_are_short_whatever_the_source():
    assert {len(source_digest(source)) for source in ("", "a", "\ud800" * 10_000)} == {32}
    assert source_digest("a") != source_digest("b")
