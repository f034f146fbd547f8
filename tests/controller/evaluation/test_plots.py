import builtins

import pytest
from scores import graded
from sufficit.controller.evaluation.contrasts.comparison import compare
from sufficit.controller.evaluation.plots import plot_comparison
from sufficit.tools.errors import SettingsError

COMPARISON = compare([graded("a", [True, False]), graded("b", [True, True])])


def test_a_plot_is_drawn_without_a_display(tmp_path):
    pytest.importorskip("matplotlib")
    plot_comparison(COMPARISON, tmp_path / "new" / "plot.svg")
    drawn = (tmp_path / "new" / "plot.svg").read_text()
    assert "<svg" in drawn


def test_an_unknown_format_is_said(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(SettingsError, match="xyz"):
        plot_comparison(COMPARISON, tmp_path / "plot.xyz")


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name=name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SettingsError, match=r"sufficit\[plots\]"):
        plot_comparison(COMPARISON, tmp_path / "plot.png")
