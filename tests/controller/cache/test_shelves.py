import asyncio
from dataclasses import replace

import pytest
from shelved import Clock, keep, texts
from staged import passages
from sufficit.controller.cache import shelves as shelves_module
from sufficit.controller.cache.shelf import Shelf
from sufficit.controller.cache.shelves import Shelves
from sufficit.tools.errors import InputError
from sufficit.tools.retrievers.layout import write_lock

FOG, ICE = passages("Fog on the Rhine.", "Ice on the Rhine.")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def shelves(tmp_path, clock) -> Shelves:
    return Shelves(tmp_path, 10, clock)


async def keep_expired(shelves: Shelves, clock: Clock, *scopes: str) -> None:
    """One passage whose time is over and one whose time is not in every scope."""
    for scope in scopes:
        clock.now -= 50
        await keep(shelves.of(scope), clock, ICE, seconds=9000)
        await keep(shelves.of(scope), clock, FOG, seconds=20)
        clock.now += 50


async def test_a_scope_never_sees_what_another_holds(tmp_path, shelves, clock):
    odd = ["a", "A", "../a", "a/../a", "", "\udc00", "a\0", "ä", "x" * 5000]
    for scope in odd:
        await keep(shelves.of(scope), clock, replace(FOG, text=f"Rhine fog of {scope!r}"))
    for scope in odd:
        assert await texts(shelves.of(scope)) == {f"Rhine fog of {scope!r}"}
    # Each lies in a folder of its own, whatever the scope is called, and is found there after a restart.
    assert sum(path.is_dir() for path in tmp_path.iterdir()) == len(odd)
    assert await texts(Shelves(tmp_path, 10, clock).of("../a")) == {"Rhine fog of '../a'"}


async def test_there_is_room_for_so_many_scopes(tmp_path, clock):
    shelves = Shelves(tmp_path / "cache", 2, clock)
    for scope in ("a", "b"):
        # Whoever only asks takes no room.
        assert await texts(shelves.of("asked")) == set()
        shelves.check_room(scope)
        await keep(shelves.of(scope), clock, FOG)
    for after_a_restart in (shelves, Shelves(tmp_path / "cache", 2, clock)):
        after_a_restart.check_room("a")
        with pytest.raises(InputError, match="2 scopes"):
            after_a_restart.check_room("c")
    (tmp_path / "cache" / "notes.txt").write_text("no shelf")
    Shelves(tmp_path / "cache", 3, clock).check_room("c")


async def test_a_sweep_looks_at_so_many_scopes_and_the_next_goes_on_with_the_others(shelves, clock):
    assert shelves.sweep(3) == 0
    await keep_expired(shelves, clock, "a", "b", "c", "d")
    assert [shelves.sweep(3), shelves.sweep(3)] == [3, 1]
    # The second began at the one that was left and looked at two of the first again; two are next now.
    await keep_expired(shelves, clock, "a", "b", "c", "d")
    assert [shelves.sweep(2), shelves.sweep(1), shelves.sweep(1), shelves.sweep(9)] == [2, 1, 1, 0]
    for scope in ("a", "b", "c", "d"):
        assert await texts(shelves.of(scope)) == {ICE.text}


async def test_a_sweep_passes_by_scopes_that_are_written_to_and_folders_that_are_no_shelf(
    tmp_path, shelves, clock
):
    await keep_expired(shelves, clock, "a", "b")
    (tmp_path / "0").mkdir()
    (tmp_path / "notes.txt").write_text("no shelf")
    busy = next(path for path in tmp_path.iterdir() if (path / "index").exists())
    with write_lock(busy / "index"):
        assert shelves.sweep(9) == 1
    assert shelves.sweep(9) == 1


@pytest.fixture
def one_open(monkeypatch) -> None:
    monkeypatch.setattr(shelves_module, "_OPEN", 1)


@pytest.mark.usefixtures("one_open")
async def test_a_shelf_that_is_no_longer_kept_open_loses_nothing(shelves, clock):
    a = shelves.of("a")
    assert shelves.of("a") is a
    await keep(a, clock, FOG)
    await keep(shelves.of("b"), clock, FOG)
    again = shelves.of("a")
    assert again is not a
    # Who still holds the old one, and who holds the new one, see what the other writes.
    await keep(again, clock, ICE)
    assert await texts(a) == await texts(again) == {FOG.text, ICE.text}
    assert await texts(shelves.of("b")) == {FOG.text}


@pytest.mark.usefixtures("one_open")
async def test_a_scope_that_is_filled_first_by_two_shelves_at_once_holds_what_both_keep(shelves, clock):
    opened: list[Shelf] = []
    for _ in range(4):
        opened.append(shelves.of("a"))
        shelves.of("b")
    assert len(set(opened)) == 4
    await asyncio.gather(
        *(
            keep(shelf, clock, replace(FOG, source=f"d{n}", text=f"Rhine {n}"))
            for n, shelf in enumerate(opened)
        )
    )
    assert await texts(shelves.of("a")) == {f"Rhine {n}" for n in range(4)}
