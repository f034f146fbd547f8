import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sufficit.controller.evaluation.arbitration.rows import (
    ArbitrationHeader,
    ArbitrationRow,
    RowFile,
    plain_rows,
    read_rows,
    rejudged,
    write_rows,
)
from sufficit.policies.trustmargin import TrustMarginSettings, verdict_by_margin, verdict_without_scoring
from sufficit.policies.types import Likelihoods
from sufficit.tools.errors import InputError

SETTINGS = TrustMarginSettings()
HEADER = ArbitrationHeader(
    generator="g", prompts="p", answer_tokens=8, trustmargin=SETTINGS, source={"questions": "q"}
)
# M_prior = -2, M_bind = 0.5.
VIEWS = Likelihoods(-0.5, -2.5, -3.0, -0.25, -4.0, -1.75)

BROKEN = asdict(
    replace(verdict_by_margin(VIEWS, "Bergen", "Oslo", SETTINGS), likelihoods=replace(VIEWS, both_rag=1e999))
)


def row(name="1", views=VIEWS, **changes):
    verdict = verdict_by_margin(views, "Bergen", "Oslo", SETTINGS)
    values = {"id": name, "question": "Where?", "direct": "Bergen", "rag": "Oslo", "verdict": verdict}
    return ArbitrationRow(**(values | changes))


def test_what_is_written_is_read_back(tmp_path):
    rows = [row("a", answers=("Oslo",), seconds={"score": 0.25}), row("b", error="no", verdict=None)]
    with RowFile(tmp_path / "rows.jsonl", HEADER) as file:
        for one in rows:
            file.add(one)
    assert read_rows(tmp_path / "rows.jsonl") == (HEADER, rows)


def test_a_file_written_at_once_has_the_bytes_of_one_that_grew(tmp_path):
    half = row("a", rag="\ud800 Oslo", verdict=replace(row().verdict, answer="\ud800 Oslo"))
    with RowFile(tmp_path / "rows.jsonl", HEADER) as file:
        file.add(half)
    write_rows(tmp_path / "again.jsonl", *read_rows(tmp_path / "rows.jsonl"))
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "rows.jsonl").read_bytes()
    assert read_rows(tmp_path / "again.jsonl") == (HEADER, [half])


def test_a_killed_run_goes_on_after_its_last_whole_row_and_tries_again_what_failed(tmp_path):
    path = tmp_path / "rows.jsonl"
    with RowFile(path, HEADER) as file:
        file.add(row("a"))
        file.add(row("b", error="no", verdict=None))
    with path.open("a") as half:
        half.write('{"id": "c", "question": "Wh')
    with RowFile(path, HEADER) as file:
        assert list(file.done) == [("a", "")]
        file.add(row("b"))
        file.add(row("c"))
    assert [(one.id, one.error) for one in read_rows(path)[1]] == [("a", ""), ("b", ""), ("c", "")]


def test_another_runs_file_is_left_alone(tmp_path):
    path = tmp_path / "rows.jsonl"
    with RowFile(path, HEADER) as file:
        file.add(row("a"))
    before = path.read_bytes()
    with pytest.raises(InputError, match="generator differ"):
        RowFile(path, HEADER.model_copy(update={"generator": "another"}))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": {"source": "both"}}, "verdict.*no file of arbitrated answers"),
        ({"odd": 1}, "line 2: odd"),
        ({"error": "no"}, "line 2: .*either a verdict or an error"),
        ({"verdict": None}, "line 2: .*either a verdict or an error"),
        ({"verdict": BROKEN}, "line 2: .*likelihood is not a finite number"),
    ],
)
def test_a_row_that_does_not_fit_is_named(tmp_path, change, message):
    path = tmp_path / "rows.jsonl"
    with RowFile(path, HEADER) as file:
        pass
    with path.open("a") as file:
        # A file that was written elsewhere may hold what none of ours does, such as Infinity.
        file.write(json.dumps(row("a").model_dump(mode="json") | change) + "\n")
    with pytest.raises(InputError, match=message):
        read_rows(path)
    with pytest.raises(InputError, match=message):
        RowFile(path, HEADER)


def test_a_file_of_another_version_is_refused(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(HEADER.model_dump(mode="json") | {"version": 99}) + "\n")
    with pytest.raises(InputError, match="version 99"):
        read_rows(path)


@given(st.floats(0, 4), st.floats(-8, 8))
def test_a_row_is_judged_again_as_the_arbiter_would(weight, tau):
    settings = TrustMarginSettings(weight=weight, tau=tau)
    assert rejudged(row(), weight, tau) == verdict_by_margin(VIEWS, "Bergen", "Oslo", settings)


def test_what_needed_no_scoring_stands_under_every_setting():
    agreed = verdict_without_scoring([object()], "Oslo", "the Oslo", SETTINGS)
    verdict = rejudged(row(verdict=agreed), 0.0, 100.0)
    assert (verdict.source, verdict.answer, verdict.tau) == ("agree", "the Oslo", 100.0)


def test_a_row_that_failed_gives_the_empty_answer_and_its_reason():
    verdict = rejudged(row(verdict=None, error="the server is gone"), 0.5, -1.5)
    assert (verdict.source, verdict.answer, verdict.reason) == ("none", "", "the server is gone")


def test_settings_out_of_range_are_refused():
    with pytest.raises(ValidationError):
        rejudged(row(), -1.0, 0.0)


def test_plain_rows_are_those_in_which_nothing_was_varied():
    assert [one.id for one in plain_rows([row("a"), row("a", variant="20% random"), row("b")])] == ["a", "b"]
