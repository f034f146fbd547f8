import math

import pytest
from prediction_rows import found, row
from pydantic import ValidationError
from sufficit.controller.evaluation.runs.rows import Hashes, StageCost, read_rows, row_line
from sufficit.tools.errors import InputError

WHOLE = row(
    "q",
    question="Wo\u2028?\n",
    score=0.5,
    threshold=-math.inf,
    support=("doc",),
    retrieved=(found("doc"), ()),
    stages={"open": StageCost(model_calls=2)},
    timings={"total": 1.5},
)


def test_rows_come_back_as_they_were_written(tmp_path):
    file = tmp_path / "predictions.jsonl"
    rows = [WHOLE, row("b", action="failed", error="gone"), row("c", action="abstain")]
    file.write_text("".join(map(row_line, rows)), "utf-8")
    assert read_rows(file) == rows


def test_a_row_is_one_line_whatever_it_holds():
    assert row_line(WHOLE).count("\n") == 1


def test_a_line_that_is_no_row_is_named_by_its_place_in_the_file(tmp_path):
    file = tmp_path / "predictions.jsonl"
    file.write_text(row_line(WHOLE) + "\n" + row_line(WHOLE).replace('"answer"', '"guess"'), "utf-8")
    with pytest.raises(InputError, match=r"predictions\.jsonl, line 3: "):
        read_rows(file)


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, content):
    file = tmp_path / "predictions.jsonl"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=r"predictions\.jsonl cannot be read"):
        read_rows(file)


@pytest.mark.parametrize(
    "changes",
    [{"score": math.nan}, {"timings": {"total": math.inf}}, {"action": "guess"}, {"note": "unknown"}],
)
def test_what_cannot_be_true_of_a_row_is_refused(changes):
    with pytest.raises(ValidationError):
        row("q", **changes)


def test_supported_documents_are_found_by_source_or_title_and_count_once():
    asked = row("q", support=("rhine", "PO", "lost"))
    assert asked.supported(found("rhine", "po", "rhine", "other")) == {"rhine", "PO"}
    assert asked.supported(()) == frozenset()
    assert row("q").supported(found("rhine")) == frozenset()


def test_one_word_for_four_hashes():
    hashes = Hashes(settings="s" * 64, artifact="a" * 64, index="i" * 8, data="d")
    assert hashes.short == "ssssssss-aaaaaaaa-iiiiiiii-d"
