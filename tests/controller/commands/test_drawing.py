import sys
from pathlib import Path

import pytest
from sufficit.controller.cli import app
from sufficit.controller.commands import drawing
from sufficit.tools.errors import SettingsError
from typer.testing import CliRunner


def test_known_formats_and_no_file_pass():
    assert drawing.drawable(None) is None
    assert [drawing.drawable(Path(f"a.{suffix}")) for suffix in ("png", "SVG", "pdf")]


def test_another_format_is_refused_before_anything_is_read(tmp_path):
    arguments = ["eval", "igp", tmp_path / "none.jsonl", "--out", tmp_path / "o.jsonl", "--plot", "p.foo"]
    with pytest.raises(SettingsError, match=r"--plot p\.foo: name a file that ends in \.png, \.svg, \.pdf"):
        CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SettingsError, match="pip install"):
        drawing.drawable(Path("a.svg"))
