import torch
from sufficit.tools.generators.prefixes import Layers, PrefixStore


def layers(length: int) -> Layers:
    keys = torch.arange(length, dtype=torch.float32).reshape(1, 1, length, 1)
    return ((keys, -keys),)


def test_the_longest_known_beginning_is_found() -> None:
    store = PrefixStore(100)
    store.keep([1, 2, 3, 4], layers(4))
    store.keep([1, 2, 9], layers(3))
    found = store.find([1, 2, 3, 7])
    assert found is not None
    assert found.length == 3
    keys, values = found.layers[0]
    assert keys.flatten().tolist() == [0, 1, 2]
    assert values.flatten().tolist() == [0, -1, -2]
    assert store.find([2, 1]) is None


def test_what_was_not_used_for_longest_makes_room() -> None:
    store = PrefixStore(7)
    store.keep([1, 2, 3], layers(3))
    store.keep([4, 5, 6], layers(3))
    assert store.find([1, 2]) is not None
    store.keep([7, 8, 9], layers(3))
    assert store.find([4, 5]) is None
    assert store.find([1, 2]) is not None


def test_a_look_up_that_matches_all_alike_saves_none_of_the_older() -> None:
    store = PrefixStore(9)
    for first in (1, 4, 7):
        store.keep([0, first, first + 1], layers(3))
    found = store.find([0, 99])
    assert found is not None
    assert found.length == 1
    store.keep([0, 10, 11], layers(3))
    assert [ids[1] for ids in store._kept] == [4, 7, 10]


def test_a_longer_prompt_takes_the_place_of_its_beginning() -> None:
    store = PrefixStore(6)
    store.keep([4, 5], layers(2))
    store.keep([1, 2], layers(2))
    store.keep([1, 2, 3, 4], layers(4))
    assert store.find([4, 5]) is not None


def test_nothing_over_the_capacity_is_kept() -> None:
    store = PrefixStore(2)
    store.keep([1, 2, 3], layers(3))
    assert store.find([1, 2, 3]) is None
