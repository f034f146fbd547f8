import pytest
from sufficit.controller.retrieval import check_indexes, load_retriever
from sufficit.controller.settings import IndexSettings
from sufficit.tools.errors import IndexMissing, StorageError
from sufficit.tools.retrievers.expiry import EXPIRES
from sufficit.tools.retrievers.opening import build_index
from sufficit.tools.types import Passage


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A passage that expired in 2001, one that does in 2100, one that never does."""
    path = tmp_path_factory.mktemp("retrieval") / "index"
    kept = [
        Passage(str(year), "The Rhine rises in the Alps.", source=f"web:{year}", metadata={EXPIRES: until})
        for year, until in ((2001, 1_000_000_000), (2100, 4_102_444_800))
    ]
    build_index("embedded", path, [*kept, Passage("own", "The Rhine flows north.", source="rhine")])
    return path


def test_every_index_that_is_named_must_be_there(index, tmp_path):
    check_indexes(IndexSettings(path=index))
    check_indexes(IndexSettings(path=index, fused_with=(index,)))
    with pytest.raises(IndexMissing, match=r"There is no index at .*nowhere"):
        check_indexes(IndexSettings(path=tmp_path / "nowhere"))
    with pytest.raises(IndexMissing, match=r"There is no index at .*nowhere"):
        check_indexes(IndexSettings(path=index, fused_with=(index, tmp_path / "nowhere")))


def test_a_damaged_manifest_is_no_missing_index(tmp_path):
    (tmp_path / "sufficit-index.json").write_text("{")
    with pytest.raises(StorageError, match="is damaged"):
        check_indexes(IndexSettings(path=tmp_path))


async def test_what_has_expired_is_not_retrieved(index):
    found = await load_retriever(IndexSettings(path=index)).search("Rhine", 8)
    assert sorted(passage.id for passage in found) == ["2100", "own"]
