import builtins
import json
import os
from pathlib import Path

import pytest
from prediction_rows import found, row, write_run
from sufficit.controller.evaluation.runs.report_files import write_report
from sufficit.tools.errors import StorageError

ROWS = [
    row("a", score=1.0, support=("x",), pool=found("x"), threshold=float("-inf")),
    row("<b>", answer="wrong", score=0.5),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path, {"full": ROWS, "<i>one</i>": ROWS}, file="<questions>.jsonl").path


def test_three_files_and_their_plots(folder):
    pytest.importorskip("matplotlib")
    report = write_report(folder)
    data = json.loads((folder / "report.json").read_text())
    assert [one["configuration"] for one in data["summaries"]] == ["full", "<i>one</i>"]
    assert data["summaries"][0]["quality"]["f1"]["value"] == report.summaries[0].quality.f1.value == 0.5
    assert data["comparisons"][0]["differences"][0]["measure"] == "coverage"
    assert data["run"]["configurations"]["full"]["hashes"]["artifact"] == "a"
    page = (folder / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 3
    assert "&lt;questions&gt;.jsonl" in page
    assert "Beside &#x27;no real difference&#x27; stands by how much" in page
    assert "<i>" not in page
    text = (folder / "report.md").read_text()
    assert text.startswith("## 2 configurations on 2 questions of <questions>.jsonl")
    assert "'risk at equal coverage' is taken at the smaller coverage of the two" in text
    assert "abstaining counts 0, and 1 where there is no answer to give" in text
    for link in ("report-risk-against-coverage.png", "report-f1-against-tokens.png"):
        assert f"]({link})" in text
        assert (folder / link).stat().st_size > 1000


def test_the_same_rows_give_the_same_files(folder):
    write_report(folder)
    before = {path.name: path.read_bytes() for path in folder.glob("report*")}
    write_report(folder)
    assert {path.name: path.read_bytes() for path in folder.glob("report*")} == before
    assert list(folder.glob(".*")) == []


def test_without_matplotlib_the_report_says_so(folder, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name=name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    write_report(folder)
    assert "Without plots: plots need matplotlib" in (folder / "report.html").read_text()
    assert "![" not in (folder / "report.md").read_text()


def test_a_disk_that_refuses_leaves_the_old_report(folder, monkeypatch):
    write_report(folder)
    before = (folder / "report.json").read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left on device"):
        write_report(folder)
    assert (folder / "report.json").read_bytes() == before
    assert list(folder.glob(".*")) == []
