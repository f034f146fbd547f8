import asyncio
import importlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sufficit.tools.errors import CapabilityError, IndexMismatch, StorageError
from sufficit.tools.models.catalog import ENCODER
from sufficit.tools.models.store import path as model_path
from sufficit.tools.rerankers.biencoder import BiEncoderReranker
from sufficit.tools.types import Passage

faiss = pytest.importorskip("faiss", reason="faiss is not installed; run: pip install 'sufficit[dense]'")
dense = importlib.import_module("sufficit.tools.retrievers.dense")
storage = importlib.import_module("sufficit.tools.retrievers.dense_storage")
DenseIndex, Prompts = dense.DenseIndex, dense.Prompts

PARIS = Passage("0", "Paris is the capital and most populous city of France.", "Paris", "p")
SQUID = Passage("0", "It lives in the deep ocean and can reach thirteen metres.", "Giant squid", "s")
CAPITAL = "What is the capital of France?"


@pytest.fixture(scope="module")
def encoder() -> BiEncoderReranker:
    return BiEncoderReranker.load(ENCODER)


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that a model was asked to encode, in order."""
    seen: list[str] = []
    embed = BiEncoderReranker.embed
    monkeypatch.setattr(
        BiEncoderReranker, "embed", lambda self, texts: seen.extend(texts) or embed(self, texts)
    )
    return seen


async def test_scores_are_the_cosines_of_the_encoder(tmp_path: Path, encoder: BiEncoderReranker):
    DenseIndex.build(tmp_path, [PARIS, SQUID])
    found = await DenseIndex.open(tmp_path).search(CAPITAL, 2)
    expected = await encoder.score([CAPITAL], [f"{p.title}\n{p.text}" for p in (PARIS, SQUID)])
    assert [p.source for p in found] == ["p", "s"]
    assert [p.score for p in found] == pytest.approx(expected[0].tolist(), abs=1e-5)


HARBOUR = Passage("0", "The harbour master counts the ships at dawn.", "Harbour", "h")


async def test_a_query_needs_no_word_of_a_passage_but_one_that_the_model_knows(tmp_path: Path):
    DenseIndex.build(tmp_path, [HARBOUR, SQUID])
    index = DenseIndex.open(tmp_path)
    assert [p.source for p in await index.search("vessels in port", 1)] == ["h"]
    assert len(await index.search("vessels of the zyzzyva", 2)) == 2
    assert await index.search("zyzzyva", 2) == await index.search("who was it?", 2) == []


async def test_of_words_that_the_model_does_not_know_passages_that_hold_one_are_ranked(tmp_path: Path):
    medal = Passage("0", "The Torvane Medal was first struck in 1931.", "", "medal")
    other = Passage("1", "Nobody knows who Torvane was.", "", "other")
    DenseIndex.build(tmp_path, [HARBOUR, medal, other, SQUID])
    index = DenseIndex.open(tmp_path)
    assert {p.source for p in await index.search("Torvane", 4)} == {"medal", "other"}
    assert len(await index.search("Torvane", 1)) == 1
    assert await index.delete([medal.key]) == 1
    assert [p.source for p in await index.search("Torvane zyzzyva", 4)] == ["other"]


async def test_a_long_passage_is_found_by_its_end_and_once(tmp_path: Path, encoder: BiEncoderReranker):
    weather = "The weather was mild and the harvest was good that year. " * 60
    DenseIndex.build(tmp_path, [Passage("0", weather + PARIS.text, "", "long"), SQUID])
    index = DenseIndex.open(tmp_path)
    assert index.info().parts["vectors"] > 3
    found = await index.search(CAPITAL, 5)
    assert [p.source for p in found] == ["long", "s"]
    assert found[0].score > (await encoder.score([CAPITAL], [weather]))[0, 0] + 0.1


def test_what_a_stopped_build_has_encoded_is_not_encoded_again(tmp_path: Path, encoded: list[str]):
    def stopped() -> Iterator[Passage]:
        yield from (Passage(str(n), f"Fog of day {n}.", "", f"d{n}") for n in range(600))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DenseIndex.build(tmp_path, stopped())
    first = len(encoded)
    assert first >= 512
    again = [Passage(str(n), f"Fog of day {n}.", "", f"d{n}") for n in range(600)]
    assert DenseIndex.build(tmp_path, again).passages == 600
    assert len(encoded) == 600
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} == {
        "sufficit",
        "version",
        "write.lock",
    }


async def test_an_index_that_cannot_be_trusted_says_so(tmp_path: Path):
    DenseIndex.build(tmp_path, [PARIS])
    manifest = tmp_path / "sufficit-index.json"
    made = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(made | {"fingerprint": "0" * 64}))
    with pytest.raises(IndexMismatch, match="fingerprint '000"):
        DenseIndex.open(tmp_path)
    manifest.write_text(json.dumps(made))
    [version] = tmp_path.glob("version-*")
    (version / "passages.sqlite").write_bytes(b"nothing")
    with pytest.raises(StorageError, match="sufficit index build"):
        DenseIndex.open(tmp_path)


def test_a_model_folder_with_its_own_prompts(tmp_path: Path, encoded: list[str]):
    folder = tmp_path / "model"
    shutil.copytree(model_path(ENCODER), folder)
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    assert Prompts.of(folder) == Prompts("query: ", "passage: ")
    DenseIndex.build(tmp_path / "index", [PARIS], model=str(folder))
    assert asyncio.run(DenseIndex.open(tmp_path / "index").search(CAPITAL, 1))[0].key == PARIS.key
    assert encoded == [f"passage: Paris\n{PARIS.text}", f"query: {CAPITAL}"]
    (folder / "modules.json").write_text(json.dumps([{"type": "sentence_transformers.models.Dense"}]))
    with pytest.raises(CapabilityError, match="Dense"):
        DenseIndex.open(tmp_path / "index")


async def test_above_the_limit_an_inverted_file_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sufficit.tools.retrievers.dense_writing.FLAT_LIMIT", 200)
    DenseIndex.build(tmp_path, [Passage(str(n), f"Page {n}.", "", f"b{n}") for n in range(199)])
    index = DenseIndex.open(tmp_path)
    assert index.info().parts == {"vectors": 199, "lists": 0}
    assert await index.add([PARIS, SQUID]) == 201
    assert index.info().parts == {"vectors": 201, "lists": 56}
    # What comes and goes later is not in the file, and seen nevertheless.
    assert (await index.search(CAPITAL, 1))[0].key == PARIS.key
    assert await index.delete([PARIS.key]) == 1
    later = Passage("1", "France is governed from Paris, its capital, says Zyzzyva.", "", "later")
    assert await index.add([later]) == 201
    found = await index.search(CAPITAL, 200)
    assert found[0].key == later.key
    assert PARIS.key not in [p.key for p in found]
    assert [p.key for p in await index.search("Zyzzyva", 5)] == [later.key]
    [version] = tmp_path.glob("version-*")
    [file] = version.glob("vectors-*")
    file.write_bytes(b"nothing")  # a copy that cannot be read is as good as none
    assert (await DenseIndex.open(tmp_path).search(CAPITAL, 1))[0].key == later.key


def test_the_inverted_file_finds_what_exact_search_finds(tmp_path: Path):
    random = np.random.default_rng(1)
    centres = random.normal(size=(50, 64))
    vectors = (centres[random.integers(50, size=5_000)] + 0.3 * random.normal(size=(5_000, 64))).astype(
        np.float32
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    storage.write_inverted_file(tmp_path, vectors, np.arange(1, 5_001))
    made = storage.inverted_file(tmp_path)
    assert made is not None
    index, highest = made
    assert highest == 5_000
    index.nprobe = round(index.nlist / 16)
    _, found = index.search(vectors[:100], 10)
    exact = np.argsort(-vectors[:100] @ vectors.T, axis=1)[:, :10] + 1
    shared = [len(set(a) & set(b)) / 10 for a, b in zip(found, exact, strict=True)]
    assert np.mean(shared) > 0.9


def test_an_inverted_file_that_cannot_be_written_leaves_the_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    vectors = np.eye(64, dtype=np.float32)[np.arange(4_000) % 64]
    storage.write_inverted_file(tmp_path, vectors[:3_000], np.arange(1, 3_001))

    def full(index: object, name: str) -> None:
        Path(name).write_bytes(b"half")
        raise RuntimeError("write error: No space left on device")

    monkeypatch.setattr(faiss, "write_index", full)
    storage.write_inverted_file(tmp_path, vectors, np.arange(1, 4_001))
    assert [file.name for file in tmp_path.iterdir()] == ["vectors-3000.faiss"]


async def test_a_reader_is_not_kept_out_by_an_open_transaction(tmp_path: Path):
    DenseIndex.build(tmp_path, [PARIS, SQUID])
    [version] = tmp_path.glob("version-*")
    writer = storage.connect(version)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM passages")
    assert len(await DenseIndex.open(tmp_path).search(CAPITAL, 5)) == 2
    writer.close()
