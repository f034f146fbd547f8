import errno
from pathlib import Path

import pytest
from sufficit.tools.errors import StorageError
from sufficit.tools.models.cache import cache_dir, new_folder


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    final = tmp_path / "model"
    with pytest.raises(RuntimeError, match="halfway"), new_folder(final) as scratch:
        fill_halfway(scratch)
    assert not final.exists()
    assert not list(tmp_path.glob("*.partial"))
    with new_folder(final) as scratch:
        assert scratch is not None
        (scratch / "whole").write_text("x")
        assert not final.exists()
    assert (final / "whole").is_file()
    with new_folder(final) as scratch:
        assert scratch is None


def fill_halfway(scratch: Path | None) -> None:
    assert scratch is not None
    (scratch / "half").write_text("x")
    raise RuntimeError("killed halfway")


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="full disk"), new_folder(tmp_path / "model"):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_the_cache_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICIT_CACHE_DIR", str(tmp_path))
    assert cache_dir() == tmp_path
    monkeypatch.delenv("SUFFICIT_CACHE_DIR")
    assert cache_dir().name == "sufficit"
