import pytest
from scripted import capabilities
from sufficit.tools.errors import CapabilityError, InputError
from sufficit.tools.generators.limits import answer_room, check_length, check_top_k

ABLE = capabilities(context_tokens=100, max_top_k=20)


def test_a_context_may_be_filled_to_its_last_token():
    check_length(100, ABLE)
    with pytest.raises(InputError, match="need 101 tokens, over the 100 that scripted can read"):
        check_length(101, ABLE)


@pytest.mark.parametrize(
    ("prompt", "wanted", "room"), [(0, 1, 1), (60, 40, 40), (60, 41, 40), (99, 64, 1), (0, 500, 100)]
)
def test_an_answer_has_what_is_wanted_or_what_the_prompt_leaves(prompt, wanted, room):
    assert answer_room(prompt, wanted, ABLE) == room


@pytest.mark.parametrize(
    ("prompt", "wanted", "told"),
    [(100, 1, "need 101 tokens"), (5, 0, "max_tokens = 0"), (5, -1, "max_tokens = -1")],
)
def test_no_room_for_an_answer_is_an_error(prompt, wanted, told):
    with pytest.raises(InputError, match=told):
        answer_room(prompt, wanted, ABLE)


def test_top_k_is_within_what_the_generator_shows():
    for top_k in (1, 20):
        check_top_k(top_k, ABLE)
    for top_k in (-1, 0, 21):
        with pytest.raises(CapabilityError, match=rf"top_k = {top_k}, but scripted can show 1 to 20"):
            check_top_k(top_k, ABLE)
