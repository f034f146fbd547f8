import json

import pytest
from scores import graded
from sufficit.controller.cli import app
from sufficit.controller.commands.report import print_grids
from sufficit.controller.console import out
from sufficit.controller.evaluation.contrasts.scores import ScoreHeader
from sufficit.controller.evaluation.grids import Grid
from sufficit.controller.evaluation.journal import Journal
from sufficit.tools.errors import InputError
from typer.testing import CliRunner


@pytest.fixture
def files(tmp_path):
    paths = []
    for label, wins in (("a", [True, False, True]), ("b", [True, True, True])):
        path = tmp_path / f"{label}.jsonl"
        header = ScoreHeader(label=label, scorer=label, models={})
        with Journal(path, header.model_dump(mode="json")) as journal:
            rows = graded(label, wins, terms={"content": 1.0, "span": 0.5}).rows.values()
            journal.append(row.model_dump(mode="json") for row in rows)
        paths.append(path)
    return paths


def run(*arguments):
    return CliRunner().invoke(app, ["contrasts", *map(str, arguments)])


def test_a_table_json_markdown_and_a_plot(files, tmp_path):
    pytest.importorskip("matplotlib")
    page, plot = tmp_path / "new" / "r.md", tmp_path / "r.png"
    result = run("report", *files, "--markdown", page, "--plot", plot)
    assert result.exit_code == 0, result.output
    assert "1.000" in result.stdout
    assert "| b | 1.000 [1.000, 1.000] |" in page.read_text()
    assert plot.stat().st_size > 1000
    assert [path.name for path in page.parent.iterdir()] == ["r.md"]
    found = json.loads(run("report", *files, "--json", "--reference", "b").stdout)
    assert [row["average"] for row in found["overall"]] == [2 / 3, 1.0]
    assert found["differences"][0]["reference"] == "b"
    assert found["speed"][0]["p50"] == 10.0


def test_ablate_takes_the_scores_of_one_scorer(files, tmp_path):
    result = run("ablate", files[0], "--json")
    assert result.exit_code == 0, result.output
    assert [row["scorer"] for row in json.loads(result.stdout)["overall"]] == [
        "content+span",
        "content",
        "span",
    ]
    assert "Reader ablation" in run("ablate", files[0], "--markdown", tmp_path / "a.md").stdout
    assert "| content+span |" in (tmp_path / "a.md").read_text()
    assert isinstance(run("ablate", *files).exception, InputError)


def test_ablate_puts_other_scorers_beside_the_subsets(files):
    result = run("ablate", files[0], "--against", files[1], "--reference", "content", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [row["scorer"] for row in found["overall"]][:3] == ["content+span", "content", "span"]
    assert len(found["overall"]) == 4
    assert {row["reference"] for row in found["differences"]} == {"content"}


def test_other_files_are_refused(tmp_path):
    (tmp_path / "x.jsonl").write_text("{}\n")
    assert isinstance(run("report", tmp_path / "x.jsonl").exception, InputError)
    assert isinstance(run("report", tmp_path / "none.jsonl").exception, InputError)


def test_a_cell_steers_neither_the_terminal_nor_the_table():
    grid = Grid("Failures", ("group", "for example"), (("a [b]", "q\x1b[2J\n| 1"),))
    with out.capture() as captured:
        print_grids([grid])
    assert "a [b]" in captured.get()
    assert "\x1b[2J" not in captured.get()
    assert grid.markdown().splitlines()[-1] == "| a [b] | q\x1b[2J \\| 1 |"


def test_no_number_is_cut_short_where_the_terminal_is_narrow(monkeypatch):
    monkeypatch.setattr(out, "_width", 40)
    names = tuple(f"added passages {k}" for k in range(9))
    grid = Grid("Cues", ("set", *names), (("2wiki substitution", *["0.825 [0.760, 0.882]"] * 9),))
    with out.capture() as captured:
        print_grids([grid])
    shown = captured.get()
    assert "…" not in shown
    assert shown.count("0.825") == 9
    assert shown.count("0.882]") == 9


def test_a_long_word_is_broken_and_nothing_of_it_lost(monkeypatch):
    monkeypatch.setattr(out, "_width", 40)
    address = "https://a.example/" + "b" * 200
    with out.capture() as captured:
        print_grids([Grid("Failures", ("questions", "why"), (("1", address),))])
    shown = captured.get()
    assert max(map(len, shown.splitlines())) <= 40
    assert address in shown.replace("\n", "").replace(" ", "")
