from dataclasses import replace

import pytest
from sufficit.controller.evaluation.caching.building import Recipe, build_stream, kinds
from sufficit.controller.evaluation.datasets.examples import Example, make_passage
from sufficit.tools.errors import InputError


def paragraph(number: int) -> list[Example]:
    """Three questions on one paragraph, the last of them unanswerable."""
    passage = make_passage(f"T{number}", f"Fact {number} and more.")
    return [
        Example(
            f"s{number}-{n}",
            f"What is fact {number}{'abc'[n]}?",
            ("x",),
            (passage,),
            frozenset({0}),
            (),
            n < 2,
        )
        for n in range(3)
    ]


def hops(number: int) -> Example:
    """A question over its own passage and one that all share, among four more."""
    own, shared = make_passage(f"H{number}", f"Own {number}."), make_passage("H", "Shared.")
    rest = tuple(make_passage(f"D{number}{n}", f"Distraction {number} {n}.") for n in range(4))
    return Example(f"h{number}", f"Who made {number}?", ("y",), (*rest, own, shared), frozenset({4, 5}))


PARAGRAPHS = [example for number in range(20) for example in paragraph(number)]
HOPS = [hops(number) for number in range(20)]
RECIPE = Recipe(events=60, seed=3, seconds=1000.0, passages=3)


def test_a_stream_has_every_kind_in_order_and_follows_from_its_seed():
    events = build_stream([PARAGRAPHS, HOPS], RECIPE)
    assert len(events) == 60
    assert [e.time for e in events] == sorted(e.time for e in events)
    assert set(kinds(events)) == {"first", "repeat", "paraphrase", "sibling", "near_miss"}
    assert build_stream([PARAGRAPHS, HOPS], RECIPE) == events
    assert build_stream([PARAGRAPHS, HOPS], replace(RECIPE, seed=4)) != events
    assert len({e.id for e in events}) == 60
    # Both files take part.
    assert {e.group[0] for e in events} == {"s", "h"}


def test_every_kind_is_what_it_says():
    events = build_stream([PARAGRAPHS, HOPS], RECIPE)
    firsts = {e.group: e for e in events if e.kind == "first"}
    for e in events:
        first = firsts.get(e.group)
        if first is None:  # cut off at the end of the stream
            continue
        held = {p.id for p in first.passages}
        assert e.time >= first.time
        assert 50.0 <= e.ttl <= 1000.0
        if e.kind == "repeat":
            assert (e.question, e.need, e.support) == (first.question, first.need, first.support)
        if e.kind == "paraphrase":
            assert (e.need, e.support) == (first.need, first.support)
            assert e.question != first.question
        if e.kind == "sibling":
            assert e.need != first.need
            assert set(e.support) <= held
        if e.kind == "near_miss":
            assert e.need != first.need
            assert not e.support or not set(e.support) <= held
            assert held & {p.id for p in e.passages}


def test_a_fetch_brings_all_support_and_others_while_there_is_room():
    events = build_stream([HOPS], replace(RECIPE, events=20))
    assert all(set(e.support) <= {p.id for p in e.passages} for e in events)
    assert {len(e.passages) for e in events} == {3}
    few = build_stream([HOPS], replace(RECIPE, events=20, passages=1))
    assert {len(e.passages) for e in few} == {2}


def test_no_question_opens_two_groups_and_too_few_are_said():
    events = build_stream([PARAGRAPHS], replace(RECIPE, events=40))
    firsts = [e.need for e in events if e.kind == "first"]
    assert len(firsts) == len(set(firsts))
    with pytest.raises(InputError, match="ask for fewer --events"):
        build_stream([PARAGRAPHS[:3]], RECIPE)
