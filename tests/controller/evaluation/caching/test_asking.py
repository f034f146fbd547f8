import pytest
from streams import event
from sufficit.controller.evaluation.caching.asking import BEGAN, Asked, fetched, fresh, outcome, suffices
from sufficit.tools.retrievers.expiry import EXPIRES, FETCHED

RISE = "Where does the Rhine rise?"


def test_a_hit_is_right_only_with_the_whole_support_in_date():
    both = event(0, RISE, "alps sea", "alps sea")
    held = tuple(fetched(both))
    assert outcome(both, Asked(1.0, held)) == "right"
    assert outcome(both, Asked(1.0, held[:1])) == "wrong"
    assert outcome(both, Asked(1.0, None)) == "fetch"
    assert not suffices(event(1000, RISE, "alps", "alps"), held)
    assert suffices(event(999, RISE, "alps", "alps"), held)
    assert not suffices(event(1, RISE, "alps", ""), held)


def test_a_hit_that_serves_nothing_is_wrong_and_no_fetch():
    assert outcome(event(0, RISE, "alps", "alps"), Asked(1.0, ())) == "wrong"


def test_passages_beside_the_support_do_no_harm_even_out_of_date():
    old, new = fetched(event(0, RISE, "sea po", "sea")), fetched(event(900, RISE, "alps", "alps"))
    assert suffices(event(1500, RISE, "alps", "alps"), [*old, *new])
    assert not suffices(event(1500, RISE, "alps", "alps sea"), [*old, *new])


def test_one_fresh_copy_makes_up_for_a_stale_one():
    old, new = fetched(event(0, RISE, "alps", "alps")), fetched(event(900, RISE, "alps", "alps"))
    assert suffices(event(1500, RISE, "alps", "alps"), [*new, *old])


def test_what_is_fetched_is_dated_from_the_event_on():
    brought = fetched(event(50, RISE, "alps sea", "alps", ttl=10.5))
    assert [(p.id, p.source, dict(p.metadata)) for p in brought] == [
        (name, name, {FETCHED: BEGAN + 50, EXPIRES: BEGAN + 60.5}) for name in ("alps", "sea")
    ]
    assert fetched(event(0, RISE, "", "")) == []


@pytest.mark.parametrize(("time", "expected"), [(60.0, True), (60.5, False), (61.0, False)])
def test_a_passage_is_out_of_date_from_its_last_second_on(time, expected):
    (passage,) = fetched(event(50, RISE, "alps", "alps", ttl=10.5))
    assert fresh(passage, event(time, RISE, "", "")) is expected
