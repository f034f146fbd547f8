import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sufficit.tools.errors import IndexLocked, IndexMismatch, IndexMissing, StorageError
from sufficit.tools.retrievers.corpora.reading import read_corpus
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.retrievers.layout import write_lock
from sufficit.tools.types import Passage, PassageKey

HARBOUR = Passage(
    "0", "Ships enter the harbour by the north channel.", "Harbour", "h", "u", None, {"start": 0, "x": 1.5}
)
LIGHT = Passage("0", "The keeper lights the lamp at dusk.", "Lighthouse", "l")


def document(source: str, *texts: str) -> list[Passage]:
    return [Passage(str(n), text, "", source) for n, text in enumerate(texts)]


@pytest.fixture
def index(tmp_path: Path) -> EmbeddedIndex:
    EmbeddedIndex.build(tmp_path, [HARBOUR, LIGHT])
    return EmbeddedIndex.open(tmp_path)


async def texts(index: EmbeddedIndex, query: str) -> list[str]:
    return [passage.text for passage in await index.search(query, 100)]


async def test_a_passage_comes_back_whole_with_its_score(index: EmbeddedIndex):
    [found] = await index.search("harbours", 5)
    assert found.score is not None
    assert found.score > 0
    assert (
        Passage(found.id, found.text, found.title, found.source, found.url, None, found.metadata) == HARBOUR
    )


@pytest.mark.parametrize(
    "query", ["", "what is the", "zyzzyva", '"', "+", "title:", "a AND (", "*:*", "\x00\ud800"]
)
async def test_queries_without_known_terms_find_nothing(index: EmbeddedIndex, query: str):
    assert await index.search(query, 5) == []


async def test_a_query_is_text_and_not_syntax(index: EmbeddedIndex):
    assert await texts(index, "-harbour NOT title:lamp^5 [a TO b]") == [HARBOUR.text, LIGHT.text]


@pytest.mark.parametrize("k", [0, -1, 1, 10**12])
async def test_k_bounds_the_result(index: EmbeddedIndex, k: int):
    assert len(await index.search("ships and lamps", k)) == max(0, min(k, 2))


async def test_any_script_and_any_character(tmp_path: Path):
    strange = [
        Passage("a/b c", "灯台守は船を数える", "日本", "s/1 ?"),
        Passage("\x00", "مدينة القاهرةُ عاصمة", "", "\ud800"),
        Passage("", "pizza 🍕 and null \x00 and \udfff", "", "emoji"),
        Passage("x", "ภาษาไทยไม่มีช่องว่าง", "", "thai"),
        Passage("x", "서울은 대한민국의 수도", "", "ko"),
    ]
    EmbeddedIndex.build(tmp_path, strange)
    index = EmbeddedIndex.open(tmp_path)
    for query, expected in zip(["船を", "القاهرة", "🍕", "ไทย", "서울"], strange, strict=True):
        [found] = await index.search(query, 5)
        assert (found.key, found.text, found.title) == (expected.key, expected.text, expected.title)
    assert await index.delete([PassageKey("\ud800", "\x00"), PassageKey("s/1 ?", "other")]) == 1


@pytest.mark.parametrize("unit", ["harbour of w{} ", "x", "水", "w{} "])
async def test_a_very_long_query_is_quick(index: EmbeddedIndex, unit: str):
    query = "".join(unit.format(n) for n in range(100_000))[:100_000]
    began = time.perf_counter()
    found = await index.search(query, 5)
    assert time.perf_counter() - began < 2
    assert bool(found) == ("harbour" in unit)


async def test_the_rarest_terms_of_a_long_query_are_kept(tmp_path: Path):
    common = [f"common{n}" for n in range(300)]
    EmbeddedIndex.build(tmp_path, [*document("a", *[" ".join(common)] * 3), *document("b", "needle")])
    found = await EmbeddedIndex.open(tmp_path).search(" ".join([*common, "needle"]), 10)
    assert "needle" in [passage.text for passage in found]


async def test_adding_the_same_key_replaces(index: EmbeddedIndex):
    assert (
        await index.add(
            [Passage("0", "Nothing but fog.", "Harbour", "h"), Passage("1", "More fog.", "", "h")]
        )
        == 3
    )
    assert sorted(await texts(index, "fog")) == ["More fog.", "Nothing but fog."]
    assert await texts(index, "ships") == []


async def test_adding_twice_in_one_call_keeps_the_last(index: EmbeddedIndex):
    assert await index.add([*document("d", "first fog"), *document("d", "second fog")]) == 3
    assert await texts(index, "fog") == ["second fog"]


async def test_replacing_a_document_drops_passages_it_no_longer_has(index: EmbeddedIndex):
    index.replace(document("d", "fog one", "fog two", "fog three"))
    report = index.replace(document("d", "fog only"))
    assert (report.read, report.replaced, report.passages) == (1, 0, 3)
    assert await texts(index, "fog") == ["fog only"]


async def test_a_document_that_comes_twice_in_a_build_is_replaced_whole(tmp_path: Path):
    twice = [*document("d", "fog one", "fog two"), *document("e", "rain"), *document("d", "fog only")]
    report = EmbeddedIndex.build(tmp_path, twice)
    assert (report.read, report.replaced, report.passages) == (4, 1, 2)
    assert await texts(EmbeddedIndex.open(tmp_path), "fog") == ["fog only"]


async def test_interleaved_sources_and_passages_without_source_lose_nothing(tmp_path: Path):
    a, b = document("a", "fog 1", "fog 2"), document("b", "fog 3", "fog 4")
    loose = [Passage("x", "fog 5"), Passage("y", "fog 6"), Passage("x", "fog 7")]
    EmbeddedIndex.build(tmp_path, [a[0], b[0], a[1], b[1], *loose])
    index = EmbeddedIndex.open(tmp_path)
    assert sorted(await texts(index, "fog")) == ["fog 1", "fog 2", "fog 3", "fog 4", "fog 6", "fog 7"]
    index.replace([Passage("z", "fog 8")])
    assert await index.count() == 7


async def test_delete_counts_what_there_was(index: EmbeddedIndex):
    assert await index.delete([HARBOUR.key, PassageKey("h", "9"), PassageKey("", "")]) == 1
    assert await index.delete_sources(["h", "l"]) == 1
    assert await index.count() == 0


async def test_a_reader_sees_what_others_write_and_build(index: EmbeddedIndex, tmp_path: Path):
    reader = EmbeddedIndex.open(tmp_path)
    await index.add(document("d", "fog"))
    assert await texts(reader, "fog") == ["fog"]
    EmbeddedIndex.build(tmp_path, document("n", "a new day"))
    assert await texts(reader, "fog") == []
    assert await texts(reader, "day") == ["a new day"]
    assert len(list(tmp_path.glob("version-*"))) == 1


async def test_searches_and_writes_run_at_once(index: EmbeddedIndex, tmp_path: Path):
    async def write() -> None:
        for n in range(5):
            await asyncio.gather(*(index.add(document(f"d{n}{m}", "fog")) for m in range(2)))
            await asyncio.to_thread(EmbeddedIndex.build, tmp_path, [HARBOUR, LIGHT])

    async def read() -> None:
        for _ in range(100):
            assert [p.key for p in await index.search("harbour", 3)] == [HARBOUR.key]

    await asyncio.gather(write(), *(read() for _ in range(8)))


async def test_searching_leaves_the_event_loop_free(tmp_path: Path):
    EmbeddedIndex.build(tmp_path, (p for n in range(300) for p in document(f"d{n}", f"fog w{n} " * 50)))
    index = EmbeddedIndex.open(tmp_path)
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - began)

    ticking = asyncio.create_task(tick())
    began = time.perf_counter()
    await asyncio.gather(
        *(index.search("".join(f"w{n % 300} " for n in range(20_000)), 100) for _ in range(20))
    )
    ticking.cancel()
    assert longest < (time.perf_counter() - began) / 2


async def test_no_index_and_an_empty_one(tmp_path: Path):
    with pytest.raises(IndexMissing, match="sufficit index build"):
        EmbeddedIndex.open(tmp_path / "nowhere")
    EmbeddedIndex.build(tmp_path, [])
    with pytest.raises(IndexMissing, match="sufficit index add"):
        EmbeddedIndex.open(tmp_path)
    index = EmbeddedIndex.open(tmp_path, for_writing=True)
    with pytest.raises(IndexMissing, match="empty"):
        await index.search("fog", 3)
    assert await index.add([HARBOUR]) == 1
    assert len(await index.search("harbour", 3)) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("schema_version", 0),
        ("analyzer", "German stems"),
        ("tokenizer_version", 99),
        ("engine", "tantivy 0.1"),
    ],
)
def test_an_index_made_otherwise_says_so(index: EmbeddedIndex, tmp_path: Path, name: str, value: object):
    path = tmp_path / "sufficit-index.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    with pytest.raises(IndexMismatch, match=f"{name} {value!r}(.|\n)*sufficit index build"):
        EmbeddedIndex.open(tmp_path)
    EmbeddedIndex.build(tmp_path, [HARBOUR])
    assert EmbeddedIndex.open(tmp_path).info().passages == 1


@pytest.mark.parametrize("damage", ["manifest", "meta.json", "*.store", "folder"])
def test_a_damaged_index_says_to_rebuild_it_and_can_be(index: EmbeddedIndex, tmp_path: Path, damage: str):
    [folder] = tmp_path.glob("version-*")
    if damage == "manifest":
        (tmp_path / "sufficit-index.json").write_text('{"schema_')
    elif damage == "folder":
        folder.rename(tmp_path / "elsewhere")
    elif damage == "meta.json":
        (folder / damage).write_text("{")
    else:
        next(folder.glob(damage)).unlink()
    with pytest.raises(StorageError, match="sufficit index build"):
        EmbeddedIndex.open(tmp_path)
    EmbeddedIndex.build(tmp_path, [HARBOUR])
    assert EmbeddedIndex.open(tmp_path).info().passages == 1


async def test_another_writer_locks_writers_out_but_not_readers(index: EmbeddedIndex, tmp_path: Path):
    with write_lock(tmp_path):
        with pytest.raises(IndexLocked, match="Another process"):
            await index.add([LIGHT])
        with pytest.raises(IndexLocked):
            EmbeddedIndex.build(tmp_path, [LIGHT])
        assert await index.count() == len(await index.search("harbour lamp", 5)) == 2
    assert await index.add([LIGHT]) == 2


async def test_an_error_of_the_corpus_leaves_the_old_index(index: EmbeddedIndex, tmp_path: Path):
    def broken() -> Iterator[Passage]:
        yield from document("d", "fog")
        raise LookupError("the corpus fails")

    for write in (index.replace, lambda passages: EmbeddedIndex.build(tmp_path, passages)):
        with pytest.raises(LookupError):
            write(broken())
        assert await texts(index, "fog") == []
        assert await index.count() == 2
        assert len(list(tmp_path.glob("version-*"))) == 1


def test_a_folder_that_cannot_be_made(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be made"):
        EmbeddedIndex.build(tmp_path / "file", [HARBOUR])


# Each way to end the process, at each step of a write, by the name of what the step calls.
KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from sufficit.tools.retrievers import embedded, folder, layout, writing
from sufficit.tools.types import Passage

path, write, moment = Path(sys.argv[1]), sys.argv[2], sys.argv[3]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def passages():
    for n in range(3000):
        if moment == "reading" and n == 2000:
            die()
        yield Passage("0", f"new words {n} " * 20, "", f"new{n}")

class Wrapped:
    def __init__(self, writer): self.writer = writer
    def __getattr__(self, name): return getattr(self.writer, name)
    def commit(self):
        if moment == "before commit": die()
        self.writer.commit()
        if moment == "after commit": die()

begin = writing.PassageWriter.__init__
def wrap(self, *given):
    begin(self, *given)
    self._writer = Wrapped(self._writer)
writing.PassageWriter.__init__ = wrap

if moment == "before publishing": folder.publish = die
if moment == "publishing": layout.os.fsync = die
if moment == "after publishing": layout._sync_folder = die

if write == "build":
    embedded.EmbeddedIndex.build(path, passages())
else:
    index = embedded.EmbeddedIndex.open(path)
    if write == "replace": index.replace(passages())
    else: asyncio.run(index.add(list(passages())))
"""


@pytest.mark.parametrize(
    ("write", "moment", "count"),
    [
        ("build", "reading", 2),
        ("build", "before commit", 2),
        ("build", "after commit", 2),
        ("build", "before publishing", 2),
        ("build", "publishing", 2),
        ("build", "after publishing", 3000),
        ("replace", "reading", 2),
        ("add", "before commit", 2),
        ("add", "after commit", 3002),
    ],
)
async def test_a_killed_write_leaves_the_old_index_or_the_new(
    index: EmbeddedIndex, tmp_path: Path, write: str, moment: str, count: int
):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), write, moment], check=False, timeout=60
    )
    assert done.returncode == -9
    opened = EmbeddedIndex.open(tmp_path)
    assert await opened.count() == count
    assert len(await opened.search("words harbour", 10)) == (10 if count > 2 else 1)
    assert await opened.add(document("d", "fog")) == count + 1
    EmbeddedIndex.build(tmp_path, [LIGHT])
    left = {path.name.partition("-")[0] for path in tmp_path.iterdir()}
    assert left == {"sufficit", "version", "write.lock"}
    assert len(list(tmp_path.glob("version-*"))) == 1


async def test_a_build_killed_at_any_moment(index: EmbeddedIndex, tmp_path: Path):
    for delay in (0.02, 0.1, 0.2, 0.3):
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path), "build", "never"])
        while not list(tmp_path.glob("version-*"))[1:] and child.poll() is None:
            time.sleep(0.002)
        time.sleep(delay)
        child.kill()
        child.wait()
        opened = EmbeddedIndex.open(tmp_path)
        assert len(await opened.search("new words harbour", 5)) == (1 if await opened.count() == 2 else 5)
        assert await opened.count() in (2, 3000)


FILLED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
"""


@pytest.mark.parametrize("write", ["build", "replace", "add"])
async def test_a_full_disk_leaves_the_old_index(index: EmbeddedIndex, tmp_path: Path, write: str):
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", FILLED + KILLED, str(tmp_path), write, "never"],
        check=False,
        timeout=60,
        capture_output=True,
        text=True,
    )
    assert "StorageError: The disk is full" in done.stderr
    assert await index.count() == 2
    assert await index.add(document("d", "fog")) == 3


@pytest.fixture(scope="module")
def wiki(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> EmbeddedIndex:
    path = tmp_path_factory.mktemp("2wiki")
    reading = read_corpus([shared_data / "2wiki" / "corpus.jsonl"])
    EmbeddedIndex.build(path, reading)
    assert reading.documents == 6119
    assert not reading.problems
    return EmbeddedIndex.open(path)


async def test_support_recall_and_latency_on_2wiki(wiki: EmbeddedIndex, shared_data: Path):
    support: dict[str, set[str]] = {}
    for line in (shared_data / "2wiki" / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        question, source, _ = line.split("\t")
        support.setdefault(question, set()).add(source)
    at5, at20, seconds = [], [], []
    for line in (shared_data / "2wiki" / "queries.jsonl").read_text().splitlines():
        query = json.loads(line)
        began = time.perf_counter()
        found = [passage.source for passage in await wiki.search(query["text"], 20)]
        seconds.append(time.perf_counter() - began)
        needed = support[query["_id"]]
        at5.append(len(needed.intersection(found[:5])) / len(needed))
        at20.append(len(needed.intersection(found)) / len(needed))
    assert len(at5) == 700
    assert statistics.mean(at5) >= 0.66
    assert statistics.mean(at20) >= 0.72
    assert statistics.median(seconds) < 0.003


async def test_passages_are_found_by_their_keys(tmp_path):
    kept = [Passage(str(n), text, source="s") for n, text in enumerate(("Fog.", "the", "Ice."))]
    EmbeddedIndex.build(tmp_path, kept)
    index = EmbeddedIndex.open(tmp_path)
    found = await index.held([kept[1].key, kept[2].key, Passage("9", "", source="s").key])
    assert {passage.text for passage in found} == {"the", "Ice."}
    assert await index.held([]) == []
