import pytest
from prediction_rows import row, write_run
from sufficit.controller.evaluation.runs.folder import RunFolder
from sufficit.controller.evaluation.runs.report import read_report
from sufficit.tools.errors import InputError

ROWS = [row("a", score=1.0), row("b", answer="wrong", score=0.5), row("c", action="failed")]


def test_the_first_configuration_is_compared_with_every_other(tmp_path):
    folder = write_run(tmp_path, {"full": ROWS, "one": ROWS, "two": ROWS[::-1]})
    report = read_report(folder)
    assert [found.configuration for found in report.summaries] == ["full", "one", "two"]
    assert [(found.first, found.second) for found in report.comparisons] == [("full", "one"), ("full", "two")]
    assert all(not found.real for of in report.comparisons for found in of.differences)
    assert [found.failures for found in report.failures] == [2, 2, 2]
    assert report.pending == ()


def test_what_has_not_ended_is_named(tmp_path):
    folder = write_run(tmp_path, {"full": ROWS, "one": ROWS})
    folder.predictions("one").unlink()
    report = read_report(folder)
    assert (report.pending, report.comparisons) == (("one",), ())


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="no folder of"):
        read_report(RunFolder(tmp_path))
