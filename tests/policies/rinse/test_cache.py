import sqlite3

import numpy as np
import pytest
from sufficit.policies.rinse.cache import FeatureCache, content_key
from sufficit.tools.errors import StorageError


def test_keeps_arrays_across_openings(tmp_path):
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "pieces": np.array(["déjà", "##vu"])}
    with FeatureCache(tmp_path / "deep" / "features.db") as cache:
        assert cache.get("k") is None
        cache.put("k", arrays)
    with FeatureCache(tmp_path / "deep" / "features.db") as cache:
        stored = cache.get("k")
    assert stored.keys() == arrays.keys()
    assert all(np.array_equal(stored[name], arrays[name]) for name in arrays)
    assert stored["a"].dtype == np.float32


def test_two_fits_may_share_a_file(tmp_path):
    with FeatureCache(tmp_path / "f.db") as first, FeatureCache(tmp_path / "f.db") as second:
        first.put("x", {"v": np.zeros(1)})
        second.put("y", {"v": np.ones(1)})
        assert second.get("x") is not None
        assert first.get("y") is not None


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "f.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StorageError, match=r"f\.db"):
        FeatureCache(tmp_path / "f.db")


def test_an_unwritable_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="file"):
        FeatureCache(tmp_path / "file" / "f.db")


def test_a_write_that_never_committed_is_not_there(tmp_path):
    with FeatureCache(tmp_path / "f.db") as cache:
        cache.put("kept", {"v": np.zeros(1)})
        other = sqlite3.connect(tmp_path / "f.db")
        other.execute("INSERT INTO features VALUES ('lost', x'00')")
        other.close()
        assert cache.get("lost") is None
        assert cache.get("kept") is not None


def test_keys_tell_content_apart():
    keys = {
        content_key("content", "a", "b"),
        content_key("content", "ab", ""),
        content_key("content", ["a", "b"]),
        content_key("states", "a", "b"),
    }
    assert len(keys) == 4
    assert content_key("k", "\ud800") != content_key("k", "x")  # a lone surrogate is content too
