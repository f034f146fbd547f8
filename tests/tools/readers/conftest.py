import pytest
from tiny_encoder import save_encoder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return str(save_encoder(tmp_path_factory.mktemp("tiny-encoder")))
