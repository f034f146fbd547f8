import pytest
from sufficit.controller.extras import extra_with


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("torch", "embedded"),
        ("uvicorn", "server"),
        ("prometheus_client", "server"),
        ("faiss", "dense"),
        ("opentelemetry.sdk.trace", "tracing"),
        ("ray.util", "ray"),
        ("no_such_thing", None),
    ],
)
def test_the_extra_that_brings_a_package(module: str, extra: str | None):
    assert extra_with(module) == extra
