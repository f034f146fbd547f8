from pathlib import Path

import huggingface_hub
import pytest
from sufficit.tools.errors import InputError, ModelMissing
from sufficit.tools.models import store
from sufficit.tools.models.resolve import resolve


def test_a_catalogue_name_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICIT_CACHE_DIR", str(tmp_path))
    with pytest.raises(ModelMissing, match="sufficit models install smollm2-135m-instruct"):
        resolve("smollm2-135m-instruct")


def test_an_installed_gguf_model_becomes_a_folder() -> None:
    store.install("smollm2-135m-instruct")
    folder = resolve("smollm2-135m-instruct")
    assert (folder / "config.json").is_file()
    assert (folder / "model.safetensors").is_file()


def test_folders_and_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no config\.json"):
        resolve(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    assert resolve(str(tmp_path)) == tmp_path
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(InputError, match=r"\.gguf file"):
        resolve(str(tmp_path / "notes.txt"))


@pytest.mark.parametrize("name", ["./nothing", "/nothing/here", "model.gguf", "some/deep/path"])
def test_paths_that_are_not_there(name: str) -> None:
    with pytest.raises(ModelMissing, match="there is no model at"):
        resolve(name)


@pytest.mark.parametrize("name", ["owner/no-such-model", "not a name at all"])
def test_a_hub_name_that_cannot_be_had(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelMissing) as caught:
        resolve(name)
    assert name in str(caught.value)
    assert len(str(caught.value).splitlines()) == 2
