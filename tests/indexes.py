"""The retrievers that the contract is run against, each built and opened the same way."""

import importlib.util
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import pytest
from sufficit.tools.retrievers.hybrid import HybridRetriever
from sufficit.tools.retrievers.opening import build_index, open_for_writing, open_index
from sufficit.tools.types import Passage, PassageKey

KINDS = ("embedded", "lucene", "dense", "hybrid")


class Shelf(Protocol):
    """What the contract asks of an index."""

    async def search(self, query: str, k: int) -> list[Passage]: ...
    async def add(self, passages: Sequence[Passage]) -> int: ...
    async def delete(self, keys: Sequence[PassageKey]) -> int: ...
    async def count(self) -> int: ...


class Fused(HybridRetriever):
    """A fusion whose members are written to together, as its users would."""

    def __init__(self, members: Sequence[Any]) -> None:
        super().__init__(members)
        self.members = members

    async def add(self, passages: Sequence[Passage]) -> int:
        first, *_ = [await member.add(passages) for member in self.members]
        return first

    async def delete(self, keys: Sequence[PassageKey]) -> int:
        first, *_ = [await member.delete(keys) for member in self.members]
        return first

    async def count(self) -> int:
        return await self.members[0].count()


def has_lucene() -> bool:
    return all(importlib.util.find_spec(name) for name in ("pyserini", "jnius_config"))


def has_dense() -> bool:
    return importlib.util.find_spec("faiss") is not None


@cache
def _engine() -> Any:
    from sufficit.tools.models.catalog import ENCODER
    from sufficit.tools.retrievers.dense import DenseEngine

    return DenseEngine.load(ENCODER, device="auto", threads=None)


def share_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load the encoder of dense indexes once for many tests, not for every index."""
    if has_dense():
        engine = _engine()
        monkeypatch.setattr("sufficit.tools.retrievers.dense.DenseEngine.load", lambda *_, **__: engine)


def needs(kind: str) -> None:
    """Skip a test where the kind's packages are missing."""
    if kind == "lucene" and not has_lucene():
        pytest.skip("Lucene is not installed; run: make lucene")
    if kind == "dense" and not has_dense():
        pytest.skip("faiss is not installed; run: pip install 'sufficit[dense]'")


def build(kind: str, path: Path, passages: Sequence[Passage]) -> None:
    for member, folder in folders(kind, path):
        build_index(member, folder, passages)


def opened(kind: str, path: Path, *, for_writing: bool = False) -> Shelf:
    chosen = open_for_writing if for_writing else open_index
    members: list[Any] = [chosen(folder) for _, folder in folders(kind, path)]
    return Fused(members) if kind == "hybrid" else members[0]


def folders(kind: str, path: Path) -> list[tuple[Any, Path]]:
    """The indexes that a kind consists of, and where they lie."""
    if kind != "hybrid":
        return [(kind, path)]
    members = ["embedded", *["lucene"] * has_lucene(), *["dense"] * has_dense()]
    return [(member, path / member) for member in members]


def anserini_folder(path: Path, documents: Sequence[dict[str, Any]], *, stored: bool = True) -> None:
    """Write an index as Anserini would of a JsonCollection, with or without -storeRaw."""
    from sufficit.tools.retrievers.java import java_class
    from sufficit.tools.retrievers.lucene_search import directory_of, english

    def field(name: str) -> Any:
        return java_class(f"org.apache.lucene.document.{name}")

    store = java_class("org.apache.lucene.document.Field$Store")
    settings = java_class("org.apache.lucene.index.IndexWriterConfig")(english())
    path.mkdir(parents=True)
    writer = java_class("org.apache.lucene.index.IndexWriter")(directory_of(path), settings)
    for fields in documents:
        document = field("Document")()
        document.add(field("StringField")("id", fields["id"], store.YES))
        column = java_class("org.apache.lucene.util.BytesRef")(bytearray(fields["id"], "utf-8"))
        document.add(field("BinaryDocValuesField")("id", column))
        document.add(field("TextField")("contents", fields["contents"], store.NO))
        if stored:
            raw = fields.get("raw", fields)
            document.add(field("StoredField")("raw", raw if isinstance(raw, str) else json.dumps(raw)))
        writer.addDocument(document)
    writer.close()
