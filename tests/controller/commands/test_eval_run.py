"""`sufficit eval run` on the handbook of the examples, with real readers and a small generator."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from backends import random_model
from prediction_rows import row
from sufficit.controller.cli import app
from sufficit.controller.commands.eval_run import RunBars
from sufficit.controller.console import err
from sufficit.controller.evaluation.runs.folder import RunFolder
from sufficit.controller.evaluation.runs.loader import Loader
from sufficit.tools.errors import IndexMissing, InputError, UsageError
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.models import store
from sufficit.tools.types import Prompt
from typer.testing import CliRunner

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
ABLATIONS = EXAMPLES / "ablations"
ROWS = [
    {"id": "leave", "question": "How many days of annual leave does an employee have?", "answers": ["27"]},
    {"id": "medal", "question": "Who received the Torvane Medal in 2021?", "answerable": False},
    {"id": "none", "question": "What is it?"},
]  # fmt: skip


def run(*arguments):
    return CliRunner().invoke(app, ["eval", "run", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return TransformersGenerator.load(random_model(tmp_path_factory.mktemp("tiny")), dtype="float32")


@pytest.fixture
def place(tmp_path, monkeypatch):
    store.install("all-minilm-l6-v2")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    built = CliRunner().invoke(app, ["index", "build", str(EXAMPLES / "handbook"), "--index", "index"])
    assert built.exit_code == 0
    return tmp_path


def apart(row):
    """A row without what is its own run's: time, the hash of settings that name a deadline, and the last
    digits of a score, which depend on what was read in one batch.
    """
    score = None if row.score is None else round(row.score, 4)
    return row.model_copy(update={"timings": {}, "trace_id": "", "hashes": None, "score": score})


def test_configurations_over_questions(place, tiny, monkeypatch):
    monkeypatch.setattr("sufficit.controller.loading.load_generator", lambda _: tiny)
    names = ("full", "no-igp", "similarity-gate", "always-rag", "always-direct", "closed-book")
    configs = [part for name in names for part in ("--config", ABLATIONS / f"{name}.toml")]
    fast = (
        "--set",
        "prompts.context_tokens=1800",
        "--set",
        "igp.max_tokens=2",
        "--set",
        "generator.answer_tokens=4",
        "--set",
        "budget.seconds=600",
    )
    given = ("--questions", "q.jsonl", "--index", "index", "--out", "out", *configs, *fast)
    found = run(*given, "--workers", 2, "--json")
    assert found.exit_code == 0
    counts = json.loads(found.stdout.splitlines()[-1])["configurations"]
    assert {name: (each["questions"], each["failed"]) for name, each in counts.items()} == dict.fromkeys(
        names, (2, 0)
    )
    assert "q.jsonl: plain JSON, 2 questions" in found.stderr
    assert "left out 1 questions (none): no answer is given" in found.stderr
    rows = {
        name: {row.id: row for row in every}
        for name, every in RunFolder(Path("out")).read_predictions().items()
    }
    assert (rows["full"]["leave"].action, rows["full"]["medal"].action) == ("answer", "abstain")
    assert {row.source for row in rows["closed-book"].values()} == {"direct"}
    always_rag, always_direct = rows["always-rag"]["leave"], rows["always-direct"]["leave"]
    assert (always_rag.source, always_rag.answer) == ("rag", always_rag.rag)
    assert (always_direct.source, always_direct.answer) == ("direct", always_direct.direct)
    assert {rows[name]["medal"].action for name in ("always-rag", "always-direct")} == {"abstain"}
    each = {"open": 2, "retrieve": 0, "score": 0, "prune": 1, "write": 1, "arbitrate": 0}
    assert {name: cost.model_calls for name, cost in always_rag.stages.items()} == each
    assert {name: cost.model_calls for name, cost in always_direct.stages.items()} == each | {"prune": 0}
    pool = rows["no-igp"]["leave"].pool
    assert rows["no-igp"]["leave"].admitted == pool[:5]
    assert rows["no-igp"]["leave"].stages["prune"].model_calls == 0
    stages = rows["full"]["leave"].stages
    probes, answer = stages["prune"].prompt_tokens, stages["write"].prompt_tokens
    assert answer > stages["open"].prompt_tokens > 0
    assert probes > answer
    assert stages["score"].reader_calls > 0 == stages["open"].reader_calls
    assert len(rows["full"]["medal"].retrieved) > 1
    assert -1 <= rows["similarity-gate"]["leave"].score <= 1
    asked: list[tuple[Prompt, int]] = []
    generate = tiny.generate

    async def noted(_, prompts, max_tokens):
        asked.extend((prompt, max_tokens) for prompt in prompts)
        return await generate(prompts, max_tokens)

    monkeypatch.setattr(TransformersGenerator, "generate", noted)
    shared = run(*given[:5], "shared", *given[6:], "--share-calls")
    assert shared.exit_code == 0
    assert 0 < len(asked) == len(set(asked))
    for name, every in RunFolder(Path("shared")).read_predictions().items():
        found = {row.id: apart(row) for row in every}
        assert found == {id_: apart(row) for id_, row in rows[name].items()}
        assert [row.timings for row in every] == [{}, {}]
    assert "Seconds of a question" in Path("out/report.md").read_text()
    said = Path("shared/report.md").read_text()
    assert "Seconds of a question" not in said
    assert "Not timed, since calls were shared" in said
    # What goes on without sharing is another run.
    with pytest.raises(InputError, match=r"budget\.seconds was 86400"):
        run(*given[:5], "shared", *given[6:])
    again = run(*given, "--retry-failed")
    assert "full: answered 50.0% of 2 questions (1 abstained, 0 failed)" in again.stdout
    assert "loading models" not in again.stderr


def test_workers_of_a_cluster_share_no_calls():
    with pytest.raises(UsageError, match="--share-calls needs --engine local"):
        run("--questions", "q.jsonl", "--out", "out", "--engine", "ray", "--share-calls")
    with pytest.raises(UsageError, match="--gpus needs --engine ray"):
        run("--questions", "q.jsonl", "--out", "out", "--gpus", 1)


def test_what_cannot_be_run_is_said_before_a_model_is_loaded(place, monkeypatch):
    monkeypatch.setattr(Loader, "__call__", lambda *_: pytest.fail("a model was loaded"))
    (place / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match="holds no question"):
        run("--questions", "empty.jsonl", "--index", "index", "--out", "out")
    with pytest.raises(IndexMissing, match="no index at nowhere"):
        run("--questions", "q.jsonl", "--index", "nowhere", "--out", "out")
    (place / "full").mkdir()
    (place / "full" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds no run"):
        run("--questions", "q.jsonl", "--index", "index", "--out", "full")
    assert not (place / "out").exists()


def test_wrong_use_is_said_without_waiting_for_torch(tmp_path):
    (tmp_path / "q.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    code = "import sys; sys.modules['torch'] = None; from sufficit.controller.cli import main; main()"
    given = ("eval", "run", "--questions", "q.jsonl", "--config", "absent.toml", "--out", "out")
    found = subprocess.run(
        [sys.executable, "-c", code, *given], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert "there is no settings file absent.toml" in found.stderr


def test_progress_is_in_a_log_too(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("sufficit.controller.commands.eval_run.time.monotonic", lambda: now[0])
    with err.capture() as captured, RunBars() as bars:
        bars.begin("full", [], 9)
        for place, seconds in enumerate((0, 10, 29, 31)):
            now[0] = seconds
            bars.add("full", row(f"q{place}", action="failed"))
    logged = [line for line in captured.get().splitlines() if " done" in line]
    assert [line.split(",")[2].strip() for line in logged] == ["1 failed", "4 failed"]
    assert "4 of 9 done" in logged[-1]
