import pytest
from prediction_rows import found, row
from sufficit.controller.evaluation.runs.figures import figures
from sufficit.controller.evaluation.runs.summary import summarise

pytest.importorskip("matplotlib")


def test_plots_are_png_of_what_there_is_to_show():
    rows = [row("a", score=1.0, support=("x",), pool=found("x")), row("b", answer="wrong", score=0.0)]
    drawn = figures([summarise("_$full$", rows), summarise("other", rows)])
    assert list(drawn) == ["risk against coverage", "F1 against tokens", "recall of support by stage"]
    assert all(image.startswith(b"\x89PNG") for image in drawn.values())


def test_what_has_nothing_to_show_is_not_drawn():
    assert figures([summarise("bare", [row("a", answers=())])]) == {}
    failed = figures([summarise("failed", [row("a", action="failed")])])
    assert list(failed) == ["F1 against tokens"]
