from dataclasses import replace

import pytest
from shelved import Clock, keep, texts
from staged import passages
from sufficit.controller.cache.shelf import SCOPE, Shelf

FOG, ICE = passages("Fog on the Rhine.", "Ice on the Rhine.")


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_what_is_kept_names_its_scope_its_fetch_and_its_expiry(tmp_path, clock):
    shelf = Shelf(tmp_path, "a", clock)
    assert await texts(shelf) == set()
    assert not list(tmp_path.iterdir())
    await keep(shelf, clock, FOG)
    (held,) = await shelf.search("fog", 5)
    assert held.source == "web:doc0.md"
    assert held.metadata == {
        "scope": "a", "fetched": round(clock.now), "expires": round(clock.now + 100)
    }  # fmt: skip


async def test_expired_passages_are_not_found_and_then_deleted(tmp_path, clock):
    shelf = Shelf(tmp_path, "a", clock)
    assert shelf.sweep() == 0
    clock.now -= 50
    await keep(shelf, clock, ICE, seconds=90)
    await keep(shelf, clock, FOG, seconds=20)
    assert await texts(shelf) == {FOG.text, ICE.text}
    clock.now += 50
    assert await texts(shelf) == {ICE.text}
    assert shelf.sweep() == 1
    clock.now -= 50
    assert await texts(shelf) == {ICE.text}


async def test_passages_that_name_another_scope_are_not_served(tmp_path, clock):
    await keep(Shelf(tmp_path, "a", clock), clock, FOG)
    assert await texts(Shelf(tmp_path, "another", clock)) == set()


async def test_a_write_deletes_what_has_expired_in_its_scope(tmp_path, clock):
    shelf = Shelf(tmp_path, "a", clock)
    clock.now -= 50
    await keep(shelf, clock, FOG, seconds=20)
    await keep(shelf, clock, ICE, seconds=20)
    assert await texts(shelf) == {ICE.text}


async def test_a_document_takes_its_old_place_with_a_new_expiry(tmp_path, clock):
    shelf = Shelf(tmp_path, "a", clock)
    await keep(shelf, clock, FOG)
    await keep(shelf, clock, replace(FOG, text="Sun on the Rhine."), seconds=500)
    (held,) = await shelf.search("Rhine", 5)
    assert held.text == "Sun on the Rhine."
    clock.now += 200
    assert await texts(shelf) == {"Sun on the Rhine."}


async def test_a_fetch_of_the_same_text_keeps_the_later_expiry_on_the_disk_and_in_its_scope(tmp_path, clock):
    shelf, other = Shelf(tmp_path / "a", "a", clock), Shelf(tmp_path / "b", "b", clock)
    await keep(shelf, clock, FOG, seconds=500)
    for one in (shelf, other):
        await keep(one, clock, FOG, seconds=100)
    clock.now += 200
    assert await texts(other) == set()
    assert await texts(Shelf(tmp_path / "a", "a", clock)) == {FOG.text}
    # A later one counts as well; another text is as good as its own fetch says.
    await keep(shelf, clock, FOG, seconds=400)
    clock.now += 350
    assert await texts(shelf) == {FOG.text}
    await keep(shelf, clock, replace(FOG, text="Sun on the Rhine."), seconds=20)
    clock.now += 30
    assert await texts(shelf) == set()


async def test_what_expires_between_search_and_decision_is_told(tmp_path, clock):
    shelf = Shelf(tmp_path, "a", clock)
    await keep(shelf, clock, FOG)
    held = await shelf.search("fog", 5)
    assert shelf.fresh(held) == held
    clock.now += 101
    assert shelf.fresh(held) == []
    assert shelf.fresh([replace(FOG, metadata={SCOPE: "a"})]) == []
