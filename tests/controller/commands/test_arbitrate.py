import json

import pytest
from scripted import ScriptedGenerator
from sufficit.controller.cli import app
from sufficit.controller.evaluation.arbitration import run as arbitration_run
from sufficit.controller.evaluation.arbitration.rows import read_rows, write_rows
from sufficit.tools.errors import InputError
from typer.testing import CliRunner

RHINE = "The Rhine rises in the Alps."
# M is -0.75 for "swiss", -2.5 for "german"; "agreed" needs no scoring; "unjudged" cannot be judged.
CASES = [
    {"id": "swiss", "question": "Where?", "passages": [RHINE], "direct": "Bern", "answers": ["the Alps"]},
    {
        "id": "german",
        "question": "Where?",
        "passages": ["Dull"],
        "direct": "Bonn",
        "rag": "Ulm",
        "answer": "Bonn",
    },
    {"id": "agreed", "question": "Where?", "passages": [RHINE], "direct": "Alps", "rag": "the Alps"},
    {"id": "unjudged", "question": "Where?", "passages": [], "direct": "Bern", "rag": "Ulm"},
]


def logprobs(prompt, continuation):
    context, question = RHINE in prompt.text, "Where?" in prompt.text
    if continuation in (" Bern", " Bonn"):
        return (-3.0,)
    if continuation == " Ulm":
        return (-5.5,)
    return {(False, True): (-4.0,), (True, True): (-0.5,), (True, False): (-1.0,)}[context, question]


@pytest.fixture
def cases(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    generator = ScriptedGenerator(answer=lambda prompt: "the Alps", logprobs=logprobs)
    monkeypatch.setattr(arbitration_run, "load_generator", lambda settings: generator)
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, CASES)))
    return file


def sufficit(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def test_verdicts_as_json_with_grades_of_the_labelled(cases, tmp_path):
    result = sufficit("arbitrate", cases, "--out", tmp_path / "rows.jsonl", "--json")
    report = json.loads(result.stdout)
    assert "plain format, 4 questions" in result.stderr
    assert (report["format"], report["questions"], report["failed"], report["ties"]) == ("plain", 4, 1, 0)
    assert report["failures"] == {"the RAG answer is given, but no passage: its views cannot be measured": 1}
    assert report["selected"] == {"direct": 1, "rag": 1, "agree": 1, "none": 0}
    assert (report["labelled"], report["weight"], report["tau"]) == (2, 0.5, -1.5)
    means = {name: grade["em"] for name, grade in report["grades"].items()}
    assert means == {"direct": 0.5, "rag": 0.5, "chosen": 1.0, "oracle": 1.0}
    _, rows = read_rows(tmp_path / "rows.jsonl")
    assert [row.id for row in rows] == ["swiss", "german", "agreed", "unjudged"]
    assert "no passage" in rows[3].error


def test_the_command_may_be_named_and_options_may_come_first(cases, tmp_path):
    first = sufficit("arbitrate", "--out", tmp_path / "rows.jsonl", cases).stdout
    assert first == sufficit("arbitrate", "run", cases, "--out", tmp_path / "rows.jsonl").stdout
    assert "4 questions, lambda 0.5, tau -1.5, 0 ties" in first
    assert "2 questions with gold answers" in first
    assert "Why questions failed\nquestions  why" in first
    assert "1          the RAG answer is given, but no passage: its views" in first


def test_other_settings_do_not_go_on_with_the_same_file(cases, tmp_path):
    sufficit("arbitrate", cases, "--out", tmp_path / "rows.jsonl")
    with pytest.raises(InputError, match="trustmargin differ"):
        sufficit("arbitrate", cases, "--out", tmp_path / "rows.jsonl", "--set", "trustmargin.tau=0")


def test_a_replay_by_the_recorded_settings_changes_nothing(cases, tmp_path):
    sufficit("arbitrate", cases, "--out", tmp_path / "rows.jsonl", "--set", "trustmargin.weight=1")
    report = json.loads(sufficit("arbitrate", "replay", tmp_path / "rows.jsonl", "--json").stdout)
    assert (report["changed"], report["weight"]) == ([], 1.0)


def test_a_replay_by_others_tells_what_changes_and_writes_it(cases, tmp_path):
    sufficit("arbitrate", cases, "--out", tmp_path / "rows.jsonl")
    again = tmp_path / "again.jsonl"
    arguments = ("arbitrate", "replay", tmp_path / "rows.jsonl", "--lambda", "0", "--tau", "-2.75")
    result = sufficit(*arguments, "--out", again)
    assert "1 verdicts changed\ngerman: direct -> rag, M -2.500" in result.stdout
    report = json.loads(sufficit(*arguments, "--json").stdout)
    assert report["selected"] == {"direct": 0, "rag": 2, "agree": 1, "none": 0}
    assert report["grades"]["chosen"]["em"] == 0.5
    header, rows = read_rows(again)
    assert (header.trustmargin.weight, header.trustmargin.tau) == (0.0, -2.75)
    assert [row.verdict and row.verdict.source for row in rows] == ["rag", "rag", "agree", None]
    with pytest.raises(InputError, match="exists"):
        sufficit(*arguments, "--out", again)


def test_a_threshold_that_is_no_number_is_refused(cases, tmp_path):
    sufficit("arbitrate", cases, "--out", tmp_path / "rows.jsonl")
    with pytest.raises(InputError, match="finite"):
        sufficit("arbitrate", "replay", tmp_path / "rows.jsonl", "--tau", "nan")


def test_a_file_of_varied_runs_alone_has_nothing_to_replay(cases, tmp_path):
    sufficit("arbitrate", cases, "--out", tmp_path / "rows.jsonl")
    header, rows = read_rows(tmp_path / "rows.jsonl")
    write_rows(tmp_path / "varied.jsonl", header, [row.model_copy(update={"variant": "x"}) for row in rows])
    with pytest.raises(InputError, match="no row of a plain run"):
        sufficit("arbitrate", "replay", tmp_path / "varied.jsonl")


def test_an_id_commands_no_terminal(cases, tmp_path):
    sufficit("arbitrate", cases, "--out", tmp_path / "rows.jsonl")
    header, rows = read_rows(tmp_path / "rows.jsonl")
    named = [row.model_copy(update={"id": f"\x1b[31m[bold]{row.id}"}) for row in rows]
    write_rows(tmp_path / "named.jsonl", header, named)
    result = sufficit("arbitrate", "replay", tmp_path / "named.jsonl", "--tau", "-2.75", "--lambda", "0")
    assert "·[31m[bold]german: direct -> rag" in result.stdout


def test_likelihoods_that_are_no_numbers_are_not_decided_on(cases, tmp_path):
    sufficit("arbitrate", cases, "--out", tmp_path / "rows.jsonl")
    text = (tmp_path / "rows.jsonl").read_text().replace('"question_rag": -4.0', '"question_rag": NaN')
    (tmp_path / "broken.jsonl").write_text(text)
    with pytest.raises(InputError, match=r"line 2: a likelihood is not a finite number"):
        sufficit("arbitrate", "replay", tmp_path / "broken.jsonl")
