import time
from dataclasses import replace

import pytest
from staged import passages
from sufficit.controller.cache.shelf import SCOPE, Shelf
from sufficit.controller.cache.shelves import Shelves
from sufficit.controller.web import Keeper
from sufficit.tools.errors import InputError

FOG, ICE = passages("Fog on the Rhine.", "Ice on the Rhine.")


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def keep(shelf: Shelf, clock: Clock, *found, seconds: float = 100) -> None:
    await Keeper(shelf, seconds, clock).keep(found)


async def texts(shelf: Shelf, query: str = "Rhine") -> set[str]:
    return {passage.text for passage in await shelf.search(query, 9)}


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


async def test_a_scope_never_sees_what_another_holds(tmp_path, clock):
    shelves = Shelves(tmp_path, 10, clock)
    odd = ["a", "A", "../a", "a/../a", "", "\udc00", "a\0", "ä"]
    for scope in odd:
        await keep(shelves.of(scope), clock, replace(FOG, text=f"Rhine fog of {scope!r}"))
    for scope in odd:
        assert await texts(shelves.of(scope)) == {f"Rhine fog of {scope!r}"}
    assert len(list(tmp_path.iterdir())) == len(odd)
    # Even if a folder were to fall into another's hands, the passages say whose they are.
    folder = next(path for path in tmp_path.iterdir() if path.is_dir())
    assert await texts(Shelf(folder, "another", clock)) == set()


async def test_expired_passages_are_not_found_and_then_deleted(tmp_path, clock):
    shelves = Shelves(tmp_path, 10, clock)
    clock.now -= 50
    for scope in ("a", "b"):
        await keep(shelves.of(scope), clock, ICE, seconds=90)
        await keep(shelves.of(scope), clock, FOG, seconds=20)
    assert await texts(shelves.of("a")) == {FOG.text, ICE.text}
    clock.now += 50
    assert await texts(shelves.of("a")) == {ICE.text}
    # A sweep looks at so many scopes, in turn.
    assert [shelves.sweep(1) for _ in range(3)] == [1, 1, 0]
    clock.now -= 50
    assert [await texts(shelves.of(scope)) for scope in ("a", "b")] == [{ICE.text}, {ICE.text}]


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


async def test_what_expires_between_search_and_decision_is_told(tmp_path, clock):
    shelf = Shelf(tmp_path, "a", clock)
    await keep(shelf, clock, FOG)
    held = await shelf.search("fog", 5)
    assert shelf.fresh(held) == held
    clock.now += 101
    assert shelf.fresh(held) == []
    assert shelf.fresh([replace(FOG, metadata={SCOPE: "a"})]) == []


async def test_there_is_room_for_so_many_scopes(tmp_path, clock):
    shelves = Shelves(tmp_path, 1, clock)
    shelves.check_room("a")
    await keep(shelves.of("a"), clock, FOG)
    shelves.check_room("a")
    with pytest.raises(InputError, match="1 scopes"):
        shelves.check_room("b")
