from sufficit.controller.evaluation.contrasts.groups import shuffled
from sufficit.tools.types import Passage

SIX = [Passage(str(n), f"text {n}") for n in range(6)]


def ids(passages):
    return [passage.id for passage in passages]


def test_nothing_is_lost_and_the_passages_given_stay_in_their_order():
    assert sorted(ids(shuffled(SIX, 0, "a"))) == list("012345")
    assert ids(SIX) == list("012345")
    assert shuffled([], 0, "a") == ()


def test_every_set_of_one_length_in_a_group_is_ordered_alike():
    others = [Passage(chr(ord("a") + n), "another text") for n in range(6)]
    places = [int(id_) for id_ in ids(shuffled(SIX, 3, "group"))]
    assert ids(shuffled(others, 3, "group")) == [others[place].id for place in places]


def test_groups_and_seeds_are_ordered_apart():
    orders = {tuple(ids(shuffled(SIX, seed, name))) for seed in range(4) for name in ("a", "b", "c", "d")}
    assert len(orders) > 12
