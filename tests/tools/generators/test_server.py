from pathlib import Path

import pytest
from pydantic import ValidationError
from sufficit.tools.errors import SettingsError
from sufficit.tools.generators.server import ServerSettings, api_key


@pytest.mark.parametrize("url", ["http://host:8000", "http://host:8000/", "http://host:8000/v1/"])
def test_the_url_with_or_without_v1(url: str) -> None:
    assert ServerSettings(url=url).url == "http://host:8000"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("ftp://host", "http://host:port"),
        ("host:8000", "http://host:port"),
        ("http://", "http://host:port"),
        ("http://me:secret@host", "no credentials"),
        ("http://host/?key=secret", "no credentials"),
        ("http://host:port", "is no URL"),
    ],
)
def test_what_is_no_url(url: str, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ServerSettings(url=url)


def test_the_key_from_environment_or_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert api_key(ServerSettings()) is None
    monkeypatch.setenv("MY_KEY", " sk-1 ")
    assert api_key(ServerSettings(api_key_env="MY_KEY")) == "sk-1"
    file = tmp_path / "key"
    file.write_text("sk-2\n")
    assert api_key(ServerSettings(api_key_file=file)) == "sk-2"


@pytest.mark.parametrize(
    ("content", "told"), [("", "not set or empty"), ("sk-1 x\nsk-2", "cannot be an API key")]
)
def test_a_key_that_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str, told: str) -> None:
    monkeypatch.setenv("MY_KEY", content)
    file = tmp_path / "key"
    file.write_text(content)
    for settings in (ServerSettings(api_key_env="MY_KEY"), ServerSettings(api_key_file=file)):
        with pytest.raises(SettingsError, match=rf"generator\.api_key_.*{told}") as failure:
            api_key(settings)
        assert "sk-" not in str(failure.value)
    with pytest.raises(SettingsError, match=r"generator\.api_key_file.*FileNotFoundError"):
        api_key(ServerSettings(api_key_file=tmp_path / "absent"))
