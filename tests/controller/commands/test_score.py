import json
from dataclasses import replace

import pytest
from rinse_data import contrasts, record
from sufficit.controller.cli import app
from sufficit.controller.evaluation.journal import read_journal
from sufficit.policies.rinse.records import write_records
from sufficit.tools.errors import InputError, SettingsError
from sufficit.tools.types import Passage
from typer.testing import CliRunner


def run(*arguments):
    return CliRunner().invoke(app, ["contrasts", "score", *map(str, arguments)])


@pytest.fixture
def pairs(tmp_path):
    write_records(tmp_path / "pairs.jsonl", contrasts("f", 6))
    return tmp_path / "pairs.jsonl"


def test_scores_are_written_and_gone_on_with(pairs, tmp_path):
    out = tmp_path / "scores.jsonl"
    first = run(pairs, "--scorer", "idf-overlap", "--out", out, "--groups", 2, "--label", "mine", "--json")
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout)["records"] == 4
    second = run(pairs, "--scorer", "idf-overlap", "--out", out, "--label", "mine")
    assert "12 of 12 records scored" in second.stdout
    header, rows = read_journal(out)
    assert (header["label"], header["scorer"], len(rows)) == ("mine", "idf-overlap", 12)
    assert len({row["record"] for row in rows}) == 12


def test_a_record_that_is_there_twice_is_scored_once_and_counted(pairs, tmp_path):
    again = tmp_path / "again.jsonl"
    again.write_text(pairs.read_text() * 2)
    result = run(again, "--scorer", "idf-overlap", "--out", tmp_path / "scores.jsonl", "--json")
    assert result.exit_code == 0, result.output
    assert "left out 12 records that are there already" in result.stderr
    assert [json.loads(result.stdout)[name] for name in ("records", "repeated")] == [12, 12]


def test_large_sets_long_passages_and_short_questions_are_scored(tmp_path):
    many = tuple(Passage(str(n), f"passage {n}", source=str(n)) for n in range(500))
    odd = [
        replace(record("f", 0, label), group=group, question=question, passages=passages)
        for group, question, passages in (
            ("many", "Who?", many),
            ("long", "Who is the mayor?", (Passage("1", "mayor of Arden " * 3400),)),
            ("short", "?", (Passage("1", "text"),)),
        )
        for label in (True, False)
    ]
    write_records(tmp_path / "odd.jsonl", odd)
    result = run(tmp_path / "odd.jsonl", "--scorer", "idf-overlap", "--out", tmp_path / "s.jsonl", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) | {"out": ""} == {
        "out": "", "records": 6, "skipped": {}, "notes": {}, "unpaired": 0, "repeated": 0
    }  # fmt: skip


def test_a_real_model_scores_and_says_what_it_could_not_read(tmp_path):
    huge = tuple(Passage(str(n), "mayor of Arden " * 100, source=str(n)) for n in range(60))
    both = [replace(record("f", 1, label), passages=huge) for label in (True, False)]
    write_records(tmp_path / "pairs.jsonl", [*contrasts("f", 1), *both])
    out = tmp_path / "s.jsonl"
    result = run(
        tmp_path / "pairs.jsonl", "--scorer", "yes-no", "--out", out, "--set", "generator.device=cpu"
    )
    assert result.exit_code == 0, result.output
    assert "2 of 4 records scored" in result.stdout
    assert "skipped 2: prompt and answer need" in " ".join(result.stdout.split())
    header, rows = read_journal(out)
    assert header["models"]["generator"].startswith("smollm2-135m-instruct ")
    assert [row["score"] is None for row in rows] == [False, False, True, True]


def test_wrong_use_writes_nothing(pairs, tmp_path):
    out = tmp_path / "s.jsonl"
    assert isinstance(run(pairs, "--scorer", "none", "--out", out).exception, SettingsError)
    assert isinstance(run(tmp_path / "none", "--scorer", "rinse", "--out", out).exception, InputError)
    assert run(pairs, "--out", out).exit_code == 2
    assert not out.exists()


def test_another_scorers_file_is_not_gone_on_with(pairs, tmp_path):
    out = tmp_path / "s.jsonl"
    run(pairs, "--scorer", "idf-overlap", "--out", out)
    found = run(pairs, "--scorer", "cosine", "--out", out, "--groups", 1)
    assert isinstance(found.exception, InputError)
    assert "choose another --out" in str(found.exception)
