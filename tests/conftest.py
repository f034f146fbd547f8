import os
from pathlib import Path

import pytest

# Threads that spin at barriers starve each other when anything else runs on the machine. Read once, by torch.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.models import store

REPOSITORY = Path(__file__).resolve().parent.parent
GENERATOR = "smollm2-135m-instruct"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ray first: it takes the handler of segmentation faults from a JVM that runs, which then dies of one."""
    items.sort(key=lambda item: item.get_closest_marker("ray") is None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public question-answering data beside the repository."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the data sets of {folder}, which are not here")
    return folder


@pytest.fixture(scope="session")
def generator() -> TransformersGenerator:
    """The embedded generator, real and loaded once."""
    store.install(GENERATOR)
    return TransformersGenerator.load(GENERATOR)
