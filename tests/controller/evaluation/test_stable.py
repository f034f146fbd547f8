import hashlib
import random

from sufficit.controller.evaluation.stable import stable_id, stable_random


def test_draws_depend_on_seed_and_name_alone():
    first = stable_random(1, "a").random()
    assert stable_random(1, "a").random() == first
    assert len({first, stable_random(2, "a").random(), stable_random(1, "b").random()}) == 3


def test_draws_are_the_same_in_every_release():
    # Python seeds with a text by the text and its SHA-512, as one number.
    text = b"7:order"
    seed = int.from_bytes(text + hashlib.sha512(text).digest(), "big")
    assert stable_random(7, "order").random() == random.Random(seed).random()


def test_an_id_is_the_beginning_of_a_sha_256_over_lines():
    assert stable_id("a", "b") == hashlib.sha256(b"a\nb").hexdigest()[:16]
    assert stable_id("é") == hashlib.sha256(b"\xc3\xa9").hexdigest()[:16]


def test_the_order_and_the_cuts_of_the_parts_count():
    assert len({stable_id(*parts) for parts in (("a", "b"), ("b", "a"), ("ab",), ("a", "b", ""))}) == 4
