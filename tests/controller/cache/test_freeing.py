import asyncio
import threading
import time

import pytest
from shelved import Clock, keep, texts
from staged import passages
from sufficit.controller.cache import freeing
from sufficit.controller.cache.freeing import free, remove_freed
from sufficit.controller.cache.shelf import Shelf
from sufficit.controller.cache.shelves import Shelves
from sufficit.tools.errors import IndexLocked, InputError
from sufficit.tools.retrievers.layout import write_lock

FOG, ICE = passages("Fog on the Rhine.", "Ice on the Rhine.")


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def emptied(folder, clock: Clock) -> Shelf:
    """A shelf whose only passage has expired by every clock."""
    shelf = Shelf(folder, "a", clock)
    clock.now -= 50
    await keep(shelf, clock, FOG, seconds=20)
    shelf.remember("Where is fog?", [FOG], 20)
    clock.now += 50
    assert shelf.sweep() == 1
    return shelf


async def test_a_sweep_frees_the_room_of_scopes_that_hold_nothing_any_more(tmp_path, clock):
    shelves = Shelves(tmp_path, 2, clock)
    clock.now -= 50
    await keep(shelves.of("a"), clock, FOG, seconds=20)
    clock.now += 50
    await keep(shelves.of("b"), clock, ICE)
    with pytest.raises(InputError):
        shelves.check_room("c")
    assert shelves.sweep(9) == 1
    shelves.check_room("c")
    assert sum(path.is_dir() for path in tmp_path.iterdir()) == 1
    # Whoever held the shelf that was freed fills it anew.
    await keep(shelves.of("a"), clock, FOG)
    assert await texts(shelves.of("a")) == {FOG.text}
    assert await texts(shelves.of("b")) == {ICE.text}
    with pytest.raises(InputError):
        shelves.check_room("c")


async def test_one_passage_that_can_be_found_keeps_a_scope(tmp_path, clock):
    shelf = await emptied(tmp_path / "a", clock)
    await keep(shelf, clock, ICE)
    assert not free(tmp_path / "a")
    assert await texts(shelf) == {ICE.text}


async def test_a_scope_that_is_written_to_is_not_freed(tmp_path, clock):
    await emptied(tmp_path / "a", clock)
    with write_lock(tmp_path / "a" / "index"), pytest.raises(IndexLocked):
        free(tmp_path / "a")
    assert free(tmp_path / "a")
    assert not free(tmp_path / "a")


async def test_a_kill_between_the_two_steps_leaves_no_scope_and_the_next_sweep_no_trace(
    tmp_path, clock, monkeypatch
):
    shelf = await emptied(tmp_path / "a", clock)
    monkeypatch.setattr(freeing.shutil, "rmtree", lambda *_, **__: None)
    assert free(tmp_path / "a")
    monkeypatch.undo()
    assert (await texts(shelf), await shelf.kept("Where is fog?", 9)) == (set(), [])
    Shelves(tmp_path, 1, clock).check_room("b")
    await keep(shelf, clock, ICE)
    remove_freed(tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["a"]
    assert await texts(shelf) == {ICE.text}


def test_an_index_made_by_half_before_a_kill_is_freed(tmp_path):
    (tmp_path / "a" / "index" / "v-1").mkdir(parents=True)
    assert free(tmp_path / "a")
    assert not (tmp_path / "a").exists()


async def test_whoever_looks_up_and_writes_while_a_scope_is_freed_again_and_again_loses_nothing(
    tmp_path, clock
):
    shelf, ends, faults = Shelf(tmp_path / "a", "a", clock), threading.Event(), []

    def freeing_always() -> None:
        while not ends.is_set():
            try:
                Shelf(tmp_path / "a", "", clock).sweep()
                free(tmp_path / "a")
            except IndexLocked:
                pass
            except Exception as error:
                faults.append(error)
            time.sleep(0.02)

    async def looking_up() -> None:
        while not ends.is_set():
            await texts(shelf)
            await asyncio.sleep(0)

    thread = threading.Thread(target=freeing_always)
    thread.start()
    reader = asyncio.create_task(looking_up())
    try:
        for turn in range(6):
            # Has expired by the clock of the machine, and so may be deleted at once.
            clock.now -= 50
            await keep(shelf, clock, FOG, seconds=20)
            clock.now += 50
            if turn % 3 == 2:
                await keep(shelf, clock, ICE)
                assert await texts(shelf) == {ICE.text}
                await keep(shelf, clock, ICE, seconds=-1)
    finally:
        ends.set()
        thread.join()
        await reader
    assert faults == []
