import pytest
from sufficit.tools.models import store
from sufficit.tools.models.catalog import RERANKER
from sufficit.tools.rerankers.opening import open_reranker
from sufficit.tools.wordpieces import WordPieceTokenizer

MINILM = "all-minilm-l6-v2"


@pytest.fixture(scope="session")
def wordpieces():
    store.install(MINILM)
    return WordPieceTokenizer.load(MINILM)


@pytest.fixture(scope="session")
def reranker():
    store.install(MINILM)
    return open_reranker(RERANKER)


@pytest.fixture(scope="session")
def encoder(generator):
    """The generator read at its hidden states: one copy in memory."""
    return generator
