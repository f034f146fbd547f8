import json
from dataclasses import replace

from released import llama
from rinse_data import contrasts
from sufficit.controller.cli import app
from sufficit.policies.rinse.records import write_records
from sufficit.tools.errors import InputError
from typer.testing import CliRunner


def run(*arguments):
    return CliRunner().invoke(app, ["gate", *map(str, arguments)])


def test_the_gate_before_a_model_that_knows_nothing(tmp_path):
    alone = [replace(contrasts("f", 1)[0], group="alone")]
    write_records(tmp_path / "pairs.jsonl", [*contrasts("f", 4), *alone])
    arguments = ("--records", 1, "--out", tmp_path / "g.jsonl", "--markdown", tmp_path / "g.md")
    chosen = ("--set", "rinse.encoder=none", "--set", f"generator.model={llama(tmp_path / 'llama')}")
    result = run(tmp_path / "pairs.jsonl", *arguments, *chosen, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["sufficient"]["records"], found["insufficient"]["records"]) == (1, 1)
    assert found["generator_p50"] > 0
    assert found["fitted_on"] == []
    assert "left out 1 records of groups with one label only" in result.stderr
    assert "refused with it" in (tmp_path / "g.md").read_text()
    assert "| insufficient | 1 |" in (tmp_path / "g.md").read_text()
    assert "generation time saved" in (tmp_path / "g.md").read_text()


def test_too_few_records_are_said(tmp_path):
    write_records(tmp_path / "pairs.jsonl", contrasts("f", 2))
    result = run(tmp_path / "pairs.jsonl", "--records", 3, "--out", tmp_path / "g.jsonl")
    assert isinstance(result.exception, InputError)
    assert "lower --records" in str(result.exception)
