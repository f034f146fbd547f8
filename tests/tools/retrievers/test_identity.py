"""The hash of an index names the state of it that a run searched."""

import asyncio
import shutil

import pytest
from sufficit.tools.errors import IndexMissing
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.retrievers.identity import index_hash
from sufficit.tools.types import Passage

PASSAGES = [Passage("1", "The harbour of Vell was built by Mara Oduya.", source="vell.md")]


def test_a_copy_and_a_search_keep_the_hash_a_change_does_not(tmp_path):
    EmbeddedIndex.build(tmp_path / "index", PASSAGES)
    before = index_hash(tmp_path / "index")
    asyncio.run(EmbeddedIndex.open(tmp_path / "index").search("harbour", 3))
    shutil.copytree(tmp_path / "index", tmp_path / "copy")
    assert index_hash(tmp_path / "index") == index_hash(tmp_path / "copy") == before
    index = EmbeddedIndex.open(tmp_path / "index", for_writing=True)
    asyncio.run(index.add([Passage("2", "Vell has 900 inhabitants.", source="vell.md")]))
    assert index_hash(tmp_path / "index") != before


def test_an_index_of_another_tool_is_hashed_by_its_files(tmp_path):
    (tmp_path / "segments_1").write_bytes(b"one")
    before = index_hash(tmp_path)
    (tmp_path / "write.lock").write_bytes(b"")
    assert index_hash(tmp_path) == before
    (tmp_path / "segments_1").write_bytes(b"two")
    assert index_hash(tmp_path) != before


def test_no_index_is_named(tmp_path):
    with pytest.raises(IndexMissing, match="no index at"):
        index_hash(tmp_path / "none")
