"""The main job with real models: a question to the handbook, its JSON, its trace, its replay."""

import json
from pathlib import Path

import pytest
from sufficit.controller.cli import app
from sufficit.tools.retrievers.corpora.reading import read_corpus
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from typer.testing import CliRunner

HANDBOOK = Path(__file__).parents[3] / "examples" / "handbook"
FIELDS = {
    "action",
    "answer",
    "source",
    "grounded",
    "reason",
    "citations",
    "sufficiency",
    "evidence",
    "pruning",
    "candidates",
    "margins",
    "budget",
    "trace_id",
    "timings",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("handbook") / "index"
    EmbeddedIndex.build(folder, read_corpus([HANDBOOK]))
    return folder


def ask(index: Path, question: str, *options: str):
    return CliRunner().invoke(app, ["ask", question, "--index", str(index), *options])


def test_an_answer_with_its_trace_and_replay(index: Path, tmp_path: Path):
    trace = tmp_path / "trace.jsonl"
    question = "How many weeks of parental leave on full pay can a new parent take?"
    done = ask(index, question, "--json", "--trace", str(trace), "--set", "igp.threshold=-inf")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert set(answer) == FIELDS
    assert answer["action"] == "answer"
    assert answer["answer"]
    assert answer["sufficiency"]["score"] >= answer["sufficiency"]["threshold"]
    assert "people/parental-leave.md" in {e["source"] for e in answer["evidence"] if e["admitted"]}
    assert all(answer["budget"]["left"][limit] >= 0 for limit in answer["budget"]["left"])
    replayed = CliRunner().invoke(app, ["replay", str(trace), "--json"])
    assert replayed.exit_code == 0, replayed.output
    assert json.loads(replayed.stdout) == {"same": True, "diverged": None, "differences": []}


def test_an_abstention_is_exit_code_3_and_no_error(index: Path):
    done = ask(index, "Wer hat die Zauberflöte komponiert?")
    assert done.exit_code == 3, done.output
    assert "Abstained" in done.stdout


def test_an_empty_question_is_wrong_use(index: Path):
    from sufficit.tools.errors import InputError

    assert isinstance(ask(index, "  ").exception, InputError)
