import asyncio
import shutil
import threading
import time
from dataclasses import replace

import pytest
from staged import passages
from sufficit.controller.cache.drawer import Drawer, alone
from sufficit.tools.errors import IndexLocked, StorageError
from sufficit.tools.retrievers.expiry import EXPIRES, KEPT

HOUR = 3600.0
FOG, ICE = passages("Fog on the Rhine.", "Ice on the Rhine.")


@pytest.fixture
def drawer(tmp_path) -> Drawer:
    return Drawer(tmp_path / "a" / "index", tmp_path / ".lock")


def until(passage, seconds: float):
    """The passage as kept from the web, until so many seconds from now."""
    return replace(passage, source=f"{KEPT}{passage.id}", metadata={EXPIRES: int(time.time() + seconds)})


async def found(drawer: Drawer, later: float = 0.0) -> set[str]:
    return {passage.text for passage in await drawer.search("Rhine", 9, lambda: time.time() + later)}


async def test_nothing_is_found_and_nothing_made_before_the_first_write(drawer, tmp_path):
    assert await found(drawer) == set()
    assert await drawer.held([FOG.key]) == []
    assert drawer.sweep() == 0
    assert not drawer.exists
    assert list(tmp_path.iterdir()) == []


async def test_what_is_written_is_found_until_its_time_is_over_and_then_swept(drawer):
    fog, ice = until(FOG, HOUR), until(ICE, -1)
    drawer.replace([fog, ice])
    assert drawer.exists
    assert await found(drawer) == {FOG.text}
    assert await found(drawer, later=2 * HOUR) == set()
    # What is held is given whether its time is over or not.
    assert {passage.text for passage in await drawer.held([fog.key, ice.key])} == {FOG.text, ICE.text}
    assert drawer.sweep() == 1
    assert [passage.text for passage in await drawer.held([fog.key, ice.key])] == [FOG.text]


async def test_a_write_makes_the_index_anew_after_its_folder_was_freed(drawer, tmp_path):
    drawer.replace([until(FOG, HOUR)])
    shutil.rmtree(tmp_path / "a")
    assert await found(drawer) == set()
    drawer.replace([until(ICE, HOUR)])
    assert await found(drawer) == {ICE.text}


def test_many_first_writes_at_once_lose_nothing(drawer, tmp_path):
    others = [drawer, *(Drawer(tmp_path / "a" / "index", tmp_path / ".lock") for _ in range(3))]
    written = [until(replace(FOG, id=str(n)), HOUR) for n in range(len(others))]
    threads = [
        threading.Thread(target=one.replace, args=([passage],))
        for one, passage in zip(others, written, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asyncio.run(drawer.held([passage.key for passage in written]))) == len(written)


def test_who_waits_too_long_for_another_is_told(tmp_path):
    lock = tmp_path / ".lock"
    with alone(lock, 0), pytest.raises(IndexLocked, match="making or freeing"), alone(lock, 0.01):
        pass
    with alone(lock, 0):  # given back
        pass


def test_a_lock_that_cannot_be_made_is_a_fault_of_the_disk(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"), alone(tmp_path / "file" / ".lock", 0):
        pass
