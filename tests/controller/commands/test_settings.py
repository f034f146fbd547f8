import json
from pathlib import Path

import pytest
from sufficit.controller.cli import app
from typer.testing import CliRunner


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    return CliRunner()


def test_values_with_their_origins(runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "sufficit.toml").write_text("[igp]\ntop_m = 2\n")
    monkeypatch.setenv("SUFFICIT_BUDGET__ROUNDS", "4")
    done = runner.invoke(app, ["settings", "--json", "--set", "igp.top_k=9"])
    assert done.exit_code == 0
    rows = json.loads(done.stdout)
    assert rows["igp.top_m"] == {"value": 2, "origin": "sufficit.toml"}
    assert rows["budget.rounds"] == {"value": 4, "origin": "SUFFICIT_BUDGET__ROUNDS"}
    assert rows["igp.top_k"] == {"value": 9, "origin": "--set"}
    assert rows["igp.max_tokens"]["origin"] == "default"


def test_the_table_names_every_setting(runner: CliRunner):
    from sufficit.controller.settings import keys

    shown = runner.invoke(app, ["settings"], env={"COLUMNS": "300"}).stdout
    assert [key for key in keys() if key not in shown] == []
