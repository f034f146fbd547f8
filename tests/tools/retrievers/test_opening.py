import json
from pathlib import Path

import pytest
from sufficit.tools.errors import IndexMismatch, IndexMissing, StorageError, UsageError
from sufficit.tools.retrievers import opening
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.retrievers.hybrid import HybridRetriever
from sufficit.tools.types import Passage

FOG = Passage("0", "fog", "", "f")


def test_the_folder_says_its_kind(tmp_path: Path):
    assert opening.kind_of(tmp_path / "none") is None
    opening.build_index("embedded", tmp_path, [FOG])
    assert opening.kind_of(tmp_path) == "embedded"
    assert isinstance(opening.open_index(tmp_path), EmbeddedIndex)
    assert isinstance(opening.open_for_writing(tmp_path), EmbeddedIndex)


def test_a_bare_index_of_lucene_is_known_by_its_commit(tmp_path: Path):
    (tmp_path / "segments_1").touch()
    assert opening.kind_of(tmp_path) == "anserini"


def test_nothing_there_and_a_kind_that_nobody_knows(tmp_path: Path):
    with pytest.raises(IndexMissing, match="sufficit index build"):
        opening.open_index(tmp_path)
    manifest = tmp_path / "sufficit-index.json"
    manifest.write_text(json.dumps({"kind": "later", "folder": "version-0"}))
    with pytest.raises(IndexMismatch, match="kind 'later'"):
        opening.open_index(tmp_path)
    manifest.write_text('{"kind": 3, "folder": "x"}')
    with pytest.raises(StorageError, match="damaged"):
        opening.open_index(tmp_path)


@pytest.mark.parametrize("kind", ["embedded", "dense"])
def test_a_missing_package_gives_the_command_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: opening.Kind
):
    monkeypatch.setattr(opening.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        UsageError, match=rf"kind {kind} needs .*; run: pip install 'sufficit\[{kind}\]'"
    ) as raised:
        opening.build_index(kind, tmp_path, [FOG])
    assert "\n" not in str(raised.value)


async def test_several_folders_are_fused(tmp_path: Path):
    for name in "ab":
        opening.build_index("embedded", tmp_path / name, [Passage("0", f"fog {name}", "", name)])
    assert isinstance(opening.open_retriever([tmp_path / "a"]), EmbeddedIndex)
    both = opening.open_retriever([tmp_path / "a", tmp_path / "b"])
    assert isinstance(both, HybridRetriever)
    assert [p.source for p in await both.search("fog", 5)] == ["a", "b"]
