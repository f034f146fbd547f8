import json
from pathlib import Path

import pytest
from sufficit.controller.commands.models import app
from sufficit.tools.errors import InputError
from typer.testing import CliRunner


def test_list_says_what_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICIT_CACHE_DIR", str(tmp_path))
    result = CliRunner().invoke(app, ["list", "--json"])
    models = {model["name"]: model for model in json.loads(result.stdout)}
    assert set(models) == {"smollm2-135m-instruct", "all-minilm-l6-v2", "gemma-3-270m"}
    assert not any(model["installed"] for model in models.values())
    assert models["all-minilm-l6-v2"]["license"] == "Apache-2.0"
    table = CliRunner().invoke(app, ["list"]).stdout
    assert "smollm2-135m-instruct" in table
    assert "93 MB" in table


def test_install_leaves_an_installed_model_alone() -> None:
    for _ in range(2):
        result = CliRunner().invoke(app, ["install", "smollm2-135m-instruct", "--json"])
        assert result.exit_code == 0
    (model,) = json.loads(result.stdout)
    assert model["installed"]
    assert Path(model["path"]).is_file()
    assert result.stderr == ""


def test_an_unknown_name_downloads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICIT_CACHE_DIR", str(tmp_path))
    result = CliRunner().invoke(app, ["install", "smollm2-135m-instruct", "no-such-model"])
    assert isinstance(result.exception, InputError)
    assert "no-such-model" in str(result.exception)
    assert not any(tmp_path.iterdir())
