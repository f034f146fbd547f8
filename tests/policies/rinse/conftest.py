import pytest
from sufficit.tools.models import store
from sufficit.tools.rerankers.biencoder import BiEncoderReranker
from sufficit.tools.wordpieces import WordPieceTokenizer

MINILM = "all-minilm-l6-v2"


@pytest.fixture(scope="session")
def wordpieces():
    store.install(MINILM)
    return WordPieceTokenizer.load(MINILM)


@pytest.fixture(scope="session")
def reranker():
    store.install(MINILM)
    return BiEncoderReranker.load(MINILM)


@pytest.fixture(scope="session")
def encoder(generator):
    """The generator read at its hidden states: one copy in memory."""
    return generator
