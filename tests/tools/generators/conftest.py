import pytest
from backends import random_model
from sufficit.tools.generators.transformers import TransformersGenerator


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TransformersGenerator:
    """A generator with a real tokenizer and few, random weights."""
    return TransformersGenerator.load(random_model(tmp_path_factory.mktemp("tiny")), dtype="float32")
