import pytest
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.rerankers.biencoder import BiEncoderReranker
from sufficit.tools.wordpieces import WordPieceTokenizer


@pytest.fixture(scope="session")
def wordpieces():
    return WordPieceTokenizer.load("all-minilm-l6-v2")


@pytest.fixture(scope="session")
def reranker():
    return BiEncoderReranker.load("all-minilm-l6-v2")


@pytest.fixture(scope="session")
def encoder():
    return TransformersGenerator.load("smollm2-135m-instruct")
