from pathlib import Path

import pytest
from sufficit.tools.errors import ModelMissing
from sufficit.tools.models import fingerprint as module
from sufficit.tools.models.fingerprint import FINGERPRINT_FILE, fingerprint


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUFFICIT_CACHE_DIR", str(tmp_path / "cache"))
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"weights")
    (model / "tokenizer.json").write_text("{}")
    (model / "README.md").write_text("anything")
    return model


def test_weights_and_tokenizer_count_and_nothing_else(folder: Path) -> None:
    first = fingerprint(folder)
    (folder / "README.md").write_text("something else")
    assert fingerprint(folder) == first
    (folder / "tokenizer.json").write_text('{"a": 1}')
    second = fingerprint(folder)
    assert second != first
    (folder / "model.safetensors").write_bytes(b"weights, trained on")
    assert fingerprint(folder) not in {first, second}


def test_it_is_the_same_in_another_place(folder: Path, tmp_path: Path) -> None:
    first = fingerprint(folder)
    assert fingerprint(folder.rename(tmp_path / "elsewhere")) == first


def test_files_are_hashed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = fingerprint(folder)
    monkeypatch.setattr(module, "sha256", lambda _: pytest.fail("hashed again"))
    assert fingerprint(folder) == first


def test_a_converted_folder_carries_its_own(folder: Path) -> None:
    (folder / FINGERPRINT_FILE).write_text("gguf-abc-1\n")
    assert fingerprint(folder) == "gguf-abc-1"


def test_a_folder_without_weights(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="safetensors"):
        fingerprint(tmp_path)
