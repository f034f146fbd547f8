import asyncio
import json

import pytest
from prediction_rows import row, write_run
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.cli import app
from sufficit.controller.trace import to_json
from sufficit.tools.errors import InputError
from typer.testing import CliRunner


@pytest.fixture
def folder(tmp_path):
    """One question under two configurations: one abstained, one broke after its first event."""
    runs = controller(FixedSearch(lambda _: passages("Snow falls.")), FixedSufficiency(lambda _: -1.0))
    _, events = asyncio.run(runs.answer("What is q1?"))
    abstained = row("q1", action="abstain", answers=("[red]rain[/]",), support=("doc9.md",))
    broken = row("q1", action="failed", answers=("[red]rain[/]",), error="StorageError: the disk is full")
    folder = write_run(tmp_path, {"full": [abstained], "other": [broken]})
    for name, of in (("full", events), ("other", events[:1])):
        line = {"id": "q1", "events": [to_json(event) for event in of]}
        folder.traces(name).write_text(json.dumps(line) + "\n")
    return folder.path


def run(*arguments):
    return CliRunner().invoke(app, ["eval", "show", *map(str, arguments)])


def test_one_question_is_readable_under_every_configuration(folder):
    result = run(folder, "q1")
    assert result.exit_code == 0, result.output
    shown = result.stdout
    full, other = shown[: shown.index(" other ")], shown[shown.index(" other ") :]
    assert "Gold      [red]rain[/]" in full
    assert "Support   doc9.md" in full
    assert "Failure   not retrieved" in full
    for stage in ("Question  What is q1?", "retrieve", "RINSE", "decide  abstain", "Abstained"):
        assert stage in full
    assert "Error     StorageError: the disk is full" in other
    assert "Abstained" not in other


def test_json_holds_row_group_and_events(folder):
    found = json.loads(run(folder / "full", "q1", "--json").stdout)
    assert list(found) == ["full"]
    assert found["full"]["failure"] == "not retrieved"
    assert found["full"]["row"]["id"] == "q1"
    assert [event["kind"] for event in found["full"]["events"]][-1] == "finished"


def test_an_unknown_question_is_said(folder):
    with pytest.raises(InputError, match="no question 'q2'"):
        CliRunner().invoke(app, ["eval", "show", str(folder), "q2"], catch_exceptions=False)
