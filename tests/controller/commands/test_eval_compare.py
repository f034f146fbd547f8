import json

import pytest
from prediction_rows import row, write_run
from sufficit.controller.cli import app
from typer.testing import CliRunner

GOOD = [row(f"q{n}", score=float(n)) for n in range(10)]
BAD = [one.model_copy(update={"answer": "wrong" if n < 8 else "right"}) for n, one in enumerate(GOOD)]


@pytest.fixture
def folder(tmp_path):
    return write_run(tmp_path / "run", {"good": GOOD, "bad": BAD}).path


def run(*arguments):
    return CliRunner().invoke(app, ["eval", *map(str, arguments)], env={"COLUMNS": "200"})


def test_compare_says_which_differences_are_real(folder, tmp_path):
    result = run("compare", folder / "good", folder / "bad", "--markdown", tmp_path / "c.md")
    assert result.exit_code == 0, result.output
    lines = {line.split("  ")[0]: line.split() for line in result.stdout.splitlines()}
    assert lines["F1"][-1] == "yes"
    assert lines["coverage"][-1] == "no"
    page = (tmp_path / "c.md").read_text()
    assert "| F1 | 10 | 1.000 | 0.200 | -0.800 [" in page
    for said in (result.stdout, page):
        assert "'risk at equal coverage' is taken at the smaller coverage" in " ".join(said.split())
    (found,) = json.loads(run("compare", folder / "good", folder / "bad", "--json").stdout)
    assert (found["first"], found["second"], found["questions"]) == ("good", "bad", 10)
    assert {one["measure"]: one["real"] for one in found["differences"]}["F1"] is True


def test_explain_groups_failures(folder):
    (found,) = json.loads(run("explain", folder / "bad", "--json", "--examples", 2).stdout)
    groups = {group["name"]: group for group in found["groups"]}
    assert (found["failures"], groups["not retrieved"]["count"]) == (8, 8)
    assert groups["not retrieved"]["examples"] == ["q0", "q1"]
    shown = run("explain", folder).stdout
    assert "good: 0 failures among 10 graded questions" in shown
    assert "bad: 8 failures among 10 graded questions" in shown


def test_report_writes_the_files_and_prints_the_tables(folder):
    result = run("report", folder)
    assert result.exit_code == 0, result.output
    assert result.stdout.lstrip().startswith("Coverage")
    assert {"report.json", "report.md", "report.html"} <= {path.name for path in folder.iterdir()}
    assert json.loads(run("report", folder, "--json").stdout) == json.loads(
        (folder / "report.json").read_text()
    )
