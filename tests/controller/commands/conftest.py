from pathlib import Path

import pytest
from index_commands import run, write_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two documents."""
    return write_corpus(tmp_path / "corpus.jsonl")


@pytest.fixture
def index(corpus: Path, tmp_path: Path) -> Path:
    """An index of them, made by the command."""
    run("build", corpus, "--index", tmp_path / "index")
    return tmp_path / "index"
