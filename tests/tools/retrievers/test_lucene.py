import json
import shutil
from pathlib import Path

import pytest
from indexes import anserini_folder, needs
from sufficit.tools.errors import IndexMismatch, IndexMissing, StorageError, UsageError
from sufficit.tools.retrievers.lucene import AnseriniIndex, LuceneIndex
from sufficit.tools.retrievers.lucene_search import BM25
from sufficit.tools.retrievers.opening import build_index, open_for_writing, open_index
from sufficit.tools.types import Passage

TEXTS = [
    "Ships enter the harbour by the north channel.",
    "The harbour master counts ships and boats at dawn.",
    "Boats with lanterns cross the channel at night.",
    "The keeper lights the lamp at dusk.",
    "A lantern and a lamp are much alike.",
    # RM3 takes no terms that more than a tenth of the documents have.
    *(f"Page {n} of another book." for n in range(40)),
]
DOCUMENTS = [{"id": f"d{n}", "contents": text} for n, text in enumerate(TEXTS)]
PASSAGES = [Passage(f"d{n}", text, "", f"d{n}") for n, text in enumerate(TEXTS)]


@pytest.fixture(autouse=True)
def lucene() -> None:
    needs("lucene")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    LuceneIndex.build(tmp_path / "own", PASSAGES)
    return tmp_path / "own"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    anserini_folder(tmp_path / "foreign", DOCUMENTS)
    return tmp_path / "foreign"


def anserini_finds(folder: Path, query: str, k1: float, b: float, *, rm3: bool = False) -> dict[str, float]:
    """What Anserini's own searcher, the one under Pyserini, finds."""
    from sufficit.tools.retrievers.java import java_class

    searcher = java_class("io.anserini.search.SimpleSearcher")(str(folder))
    searcher.set_bm25(k1, b)
    if rm3:
        searcher.set_rm3("JsonCollection", 10, 10, 0.5)
    found = {hit.docid: hit.score for hit in searcher.search(query, 5)}
    searcher.close()
    return found


@pytest.mark.parametrize("rm3", [False, True])
@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (2.0, 0.9)])
async def test_scores_are_anserinis(own: Path, foreign: Path, k1: float, b: float, rm3: bool):
    scoring = BM25(k1, b, rm3)
    for query in ("the ships of the harbour harbour", "lamps at night"):
        expected = anserini_finds(foreign, query, k1, b, rm3=rm3)
        assert expected
        for index in (AnseriniIndex(foreign, scoring), LuceneIndex.open(own, scoring=scoring)):
            found = {p.id: p.score for p in await index.search(query, 5)}
            assert found == pytest.approx(expected, abs=1e-4)  # it rounds


async def test_anserini_opens_what_is_built_here(own: Path):
    [version] = own.glob("version-*")
    assert anserini_finds(version, "keeper", 0.9, 0.4).keys() == {"d3"}
    # An index of ours without its manifest is one of Anserini's.
    assert [p.text for p in await open_index(version).search("keeper", 5)] == [TEXTS[3]]


async def test_rm3_finds_what_shares_no_word_with_the_query(own: Path):
    plain, widened = LuceneIndex.open(own), LuceneIndex.open(own, scoring=BM25(rm3=True))
    before = {p.id for p in await plain.search("keeper", 5)}
    after = {p.id for p in await widened.search("keeper", 5)}
    assert before == {"d3"}
    assert before < after
    assert await widened.search("zyzzyva", 5) == []


@pytest.mark.parametrize(
    ("raw", "text", "title", "url"),
    [
        ({"_id": "b", "title": "Fog", "text": "In beir.", "metadata": {"url": "x"}}, "In beir.", "Fog", None),
        ({"docid": "m", "url": "http://x", "title": "Fog", "segment": "Cut."}, "Cut.", "Fog", "http://x"),
        ({"pid": "p", "passage": "In msmarco."}, "In msmarco.", "", None),
        ({"id": "j", "contents": "Fog\nIn json.", "title": "Fog"}, "In json.", "Fog", None),
        ("Plain text.", "Plain text.", "", None),
        ('{"broken', '{"broken', "", None),
    ],
)
async def test_the_fields_of_other_collections_are_read(
    tmp_path: Path, raw: dict[str, str] | str, text: str, title: str, url: str | None
):
    anserini_folder(tmp_path / "i", [{"id": "7", "contents": "fog", "raw": raw}])
    [found] = await AnseriniIndex(tmp_path / "i").search("fog", 9)
    assert found == Passage("7", text, title, "7", url, found.score)


async def test_a_foreign_index_is_only_read(foreign: Path):
    index = open_index(foreign)
    assert isinstance(index, AnseriniIndex)
    assert await index.count() == len(TEXTS)
    with pytest.raises(UsageError, match="made by Anserini"):
        open_for_writing(foreign)
    with pytest.raises(UsageError, match="another folder"):
        build_index("embedded", foreign, PASSAGES)


def test_text_that_is_not_stored_is_missed_when_the_index_is_opened(tmp_path: Path):
    anserini_folder(tmp_path / "i", DOCUMENTS, stored=False)
    with pytest.raises(IndexMismatch, match=r"stores no text(.|\n)*storeRaw"):
        open_index(tmp_path / "i")


def test_an_empty_and_a_damaged_foreign_index(tmp_path: Path, foreign: Path):
    anserini_folder(tmp_path / "empty", [])
    with pytest.raises(IndexMissing, match="no documents"):
        open_index(tmp_path / "empty")
    shutil.copytree(foreign, tmp_path / "damaged")
    next((tmp_path / "damaged").glob("segments_*")).write_bytes(b"nothing")
    with pytest.raises(StorageError, match="cannot be used"):
        open_index(tmp_path / "damaged")


@pytest.mark.parametrize("damage", ["segments_*", "*.cf?", "folder"])
def test_a_damaged_index_says_to_rebuild_it(own: Path, damage: str):
    [version] = own.glob("version-*")
    if damage == "folder":
        version.rename(own / "elsewhere")
    else:
        for file in version.glob(damage):
            file.unlink()
    with pytest.raises(StorageError, match="sufficit index build"):
        LuceneIndex.open(own)


def test_an_index_of_another_lucene_says_so(own: Path):
    manifest = own / "sufficit-index.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"engine": "lucene 8"}))
    with pytest.raises(IndexMismatch, match=r"'lucene 8'(.|\n)*sufficit index build"):
        LuceneIndex.open(own)


async def test_nothing_is_open_after_a_replacement(own: Path):
    """Readers of versions that are gone are closed, or a long-lived server would run out of files."""
    index = LuceneIndex.open(own)
    first = index._snapshot.reader._reader
    for n in range(3):
        await index.add([Passage("x", f"fog {n}", "", "x")])
    assert first.getRefCount() == 0
    assert index._snapshot.reader._reader.getRefCount() == 1
