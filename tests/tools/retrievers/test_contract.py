"""What every retriever promises. Each test runs against each kind, and says where one differs."""

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from indexes import KINDS, Shelf, build, needs, opened, share_encoder
from sufficit.tools.errors import IndexLocked, IndexMismatch, IndexMissing
from sufficit.tools.retrievers.expiry import Unexpired
from sufficit.tools.retrievers.layout import write_lock
from sufficit.tools.retrievers.opening import build_index, open_index
from sufficit.tools.types import Passage, PassageKey

HARBOUR = Passage(
    "0", "Ships enter the harbour by the north channel.", "Harbour", "h", "u", None, {"start": 0, "x": 1.5}
)
LIGHT = Passage("0", "The keeper lights the lamp at dusk.", "Lighthouse", "l")
SCRIPTS = [
    Passage("a/b c", "灯台守は船を数える", "日本", "s/1 ?"),
    Passage("x", "서울은 대한민국의 수도", "", "ko"),
    Passage("\x00", "مدينة القاهرةُ عاصمة", "", "\ud800"),
    Passage("", "pizza 🍕 and null \x00 and \udfff", "", "emoji"),
    Passage("café 1/2", "The cafe\u0301 in Sa\u0303o Paulo.", "", "marks"),
]
WRITERS = ("embedded", "lucene", "dense")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    needs(request.param)
    return str(request.param)


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest) -> str:
    """The kinds with files of their own: a fusion writes nothing."""
    needs(request.param)
    return str(request.param)


@pytest.fixture(autouse=True)
def _one_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    share_encoder(monkeypatch)


@pytest.fixture
def shelf(kind: str, tmp_path: Path) -> Shelf:
    build(kind, tmp_path, [HARBOUR, LIGHT])
    return opened(kind, tmp_path)


async def test_a_passage_comes_back_whole_with_its_score(shelf: Shelf):
    first, *rest = await shelf.search("ships in the harbour", 5)
    assert first.score is not None
    assert all(first.score >= (other.score or 0.0) for other in rest)
    assert (
        Passage(first.id, first.text, first.title, first.source, first.url, None, first.metadata) == HARBOUR
    )


@pytest.mark.parametrize(
    "query",
    ["", " \n", "the of and", "zyzzyva", "Zyzzyva and qwxv", "🦑", '"', "+", "*:*", "a AND (", "\x00\ud800"],
)
async def test_queries_without_known_terms(shelf: Shelf, query: str):
    assert await shelf.search(query, 5) == []


async def test_a_query_is_text_and_not_syntax(shelf: Shelf):
    found = await shelf.search('-harbour NOT title: lamp^5 [a TO b] "x~ \\', 5)
    assert {passage.source for passage in found} == {"h", "l"}


@pytest.mark.parametrize("k", [-1, 0, 1, 10**12])
async def test_k_bounds_the_result(shelf: Shelf, k: int):
    assert len(await shelf.search("ships and lamps", k)) == max(0, min(k, 2))


async def test_any_script_and_any_character(kind: str, tmp_path: Path):
    build(kind, tmp_path, SCRIPTS)
    shelf = opened(kind, tmp_path)
    asked = ["船を", "서울", "القاهرة", "🍕", "s\u00e3o paulo caf\u00e9"]
    for query, expected in zip(asked, SCRIPTS, strict=True):
        found = await shelf.search(query, 5)
        assert (found[0].key, found[0].text, found[0].title) == (expected.key, expected.text, expected.title)
        if kind in ("embedded", "lucene"):  # an encoder ranks all where it knows a word
            assert len(found) == 1
    assert await shelf.delete([PassageKey("\ud800", "\x00"), PassageKey("s/1 ?", "other")]) == 1
    assert await shelf.delete([PassageKey("s/1 ?", "a/b c"), PassageKey("marks", "café 1/2")]) == 2


async def test_a_very_long_query_is_answered(shelf: Shelf):
    found = await shelf.search("harbour " + "".join(f"w{n} " for n in range(50_000)), 5)
    assert found[0].source == "h"


async def test_add_replace_delete_and_reopen(shelf: Shelf, kind: str, tmp_path: Path):
    other = opened(kind, tmp_path)
    fog = [Passage("0", "Nothing but fog.", "Harbour", "h"), Passage("1", "More fog and mist.", "", "h")]
    assert await shelf.add(fog) == 3
    for reader in (shelf, other, opened(kind, tmp_path)):
        assert {p.text for p in (await reader.search("fog", 5))[:2]} == {fog[0].text, fog[1].text}
        assert HARBOUR.text not in [p.text for p in await reader.search("ships", 5)]
    assert await shelf.add([Passage("2", "first", "", "t"), Passage("2", "second", "", "t")]) == 4
    assert await shelf.delete([fog[0].key, PassageKey("h", "9"), PassageKey("", "")]) == 1
    for reader in (shelf, other, opened(kind, tmp_path)):
        assert await reader.count() == 3
        assert (await reader.search("fog mist", 1))[0].key == fog[1].key
    assert await shelf.delete([LIGHT.key, fog[1].key, PassageKey("t", "2")]) == 3
    with pytest.raises(IndexMissing, match="sufficit index add"):
        opened(kind, tmp_path)
    assert await opened(kind, tmp_path, for_writing=True).add([LIGHT]) == 1
    assert [p.text for p in await other.search("lamp", 5)] == [LIGHT.text]


async def test_a_rebuild_replaces_and_is_seen(shelf: Shelf, kind: str, tmp_path: Path):
    build(kind, tmp_path, [Passage("0", "A new day.", "", "n"), Passage("0", "A newer day.", "", "n")])
    assert await shelf.count() == 1
    assert [p.text for p in await shelf.search("newer day", 5)] == ["A newer day."]


async def test_eight_searchers_beside_a_writer(shelf: Shelf):
    async def write() -> None:
        for n in range(8):
            await shelf.add([Passage(str(n), f"fog number {n}", "", "fog")])
            await shelf.delete([PassageKey("fog", str(n - 2))])

    async def read() -> None:
        for _ in range(12):
            assert (await shelf.search("ships harbour", 3))[0].key == HARBOUR.key

    await asyncio.gather(write(), *(read() for _ in range(8)))
    assert await shelf.count() == 4


async def test_searching_leaves_the_event_loop_free(shelf: Shelf, kind: str):
    released = threading.Event()
    for index in shelf.members if kind == "hybrid" else [shelf]:
        reader = index._snapshot.reader
        reader.search = lambda query, k: [] if released.wait(5) else [HARBOUR]
    searching = asyncio.create_task(shelf.search("harbour", 5))
    await asyncio.sleep(0.01)
    released.set()  # which nobody would, if the loop waited for the search
    assert await searching == []


async def test_another_writer_locks_writers_out_but_not_readers(writer: str, tmp_path: Path):
    build(writer, tmp_path, [HARBOUR, LIGHT])
    shelf = opened(writer, tmp_path)
    with write_lock(tmp_path):
        with pytest.raises(IndexLocked, match="Another process"):
            await shelf.add([LIGHT])
        assert await shelf.count() == len(await shelf.search("harbour lamp", 5)) == 2
    assert await shelf.add([LIGHT]) == 2


async def test_an_index_of_another_kind_takes_the_folder(writer: str, tmp_path: Path):
    before = "lucene" if writer == "embedded" else "embedded"
    needs(before)
    build(before, tmp_path, [LIGHT])
    old = opened(before, tmp_path)
    build(writer, tmp_path, [HARBOUR])
    with pytest.raises(IndexMismatch, match=f"kind '{writer}'(.|\n)*sufficit index build"):
        await old.count()
    assert [p.key for p in await opened(writer, tmp_path).search("harbour", 5)] == [HARBOUR.key]


def test_an_error_of_the_corpus_leaves_the_old_index(writer: str, tmp_path: Path):
    build(writer, tmp_path, [HARBOUR, LIGHT])

    def broken():
        yield Passage("0", "fog", "", "d")
        raise LookupError("the corpus fails")

    with pytest.raises(LookupError):
        build_index(writer, tmp_path, broken())
    index = open_index(tmp_path)
    with pytest.raises(LookupError):
        index.replace(broken())
    assert asyncio.run(index.count()) == 2
    assert len(list(tmp_path.glob("version-*"))) == 1


async def test_what_expires_is_neither_found_nor_held(writer: str, tmp_path: Path):
    def until(seconds: float, source: str) -> Passage:
        return Passage("0", "Ships moor at night.", "", source, metadata={"expires": time.time() + seconds})

    old, fresh, own = until(-5, "web:old"), until(500, "web:fresh"), until(-5, "own")
    build(writer, tmp_path, [HARBOUR, old, fresh, own])
    index = opened(writer, tmp_path)
    assert await index.count() == 3
    facts = index.info()
    assert (facts.passages, facts.expired) == (3, 1)
    found = await Unexpired(index).search("ships", 9)
    assert {p.source for p in found} == {"h", "web:fresh", "own"}
    assert index.sweep() == 1
    assert index.sweep() == index.info().expired == 0
    assert {p.source for p in await index.search("ships", 9)} == {"h", "web:fresh", "own"}
    # Every write sweeps, and counts only what it was told to do.
    build(writer, tmp_path, [HARBOUR, old])
    assert await index.delete([HARBOUR.key]) == 1
    assert index.info().expired == await index.count() == 0
    build(writer, tmp_path, [HARBOUR, old])
    assert index.replace([fresh]).passages == 2
    assert index.info().expired == 0


# Writes until it is killed, and says on stdout what is done.
WRITING = """
import asyncio, sys, time
from pathlib import Path
from sufficit.tools.retrievers.opening import build_index, open_for_writing
from sufficit.tools.types import Passage

write, kind, path = sys.argv[1], sys.argv[2], Path(sys.argv[3])

def passages(name, count):
    return [Passage(str(n), f"new words {name} {n}", "", f"new{name}") for n in range(count)]

def endless():
    for name in range(10**9):
        yield from passages(name, 5)
        print(name, flush=True)
        time.sleep(0.001)

async def adding():
    index = open_for_writing(path)
    for name in range(10**9):
        await index.add(passages(name, 5))
        print(name, flush=True)

if write == "build":
    build_index(kind, path, endless())
else:
    asyncio.run(adding())
"""


@pytest.mark.parametrize(("write", "lines"), [("build", 20), ("add", 4)])
async def test_killed_while_writing_it_leaves_a_readable_index(
    writer: str, tmp_path: Path, write: str, lines: int
):
    build(writer, tmp_path, [HARBOUR, LIGHT])
    command = [sys.executable, "-c", WRITING, write, writer, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        done = [child.stdout.readline() for _ in range(lines)]
        time.sleep(0.02)
        child.kill()
        done += child.stdout.readlines()
    assert child.returncode == -9
    index = opened(writer, tmp_path)
    count = await index.count()
    if write == "build":
        assert count == 2
    else:  # whole calls only, and every one that returned
        assert (count - 2) % 5 == 0
        assert (count - 2) // 5 - len([line for line in done if line.endswith("\n")]) in (0, 1)
    assert (await index.search("ships harbour", 3))[0].key == HARBOUR.key
    assert await index.add([Passage("1", "fog", "", "d")]) == count + 1
    build(writer, tmp_path, [LIGHT])
    assert len(list(tmp_path.glob("version-*"))) == 1
