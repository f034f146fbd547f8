"""Schemathesis against a running server: no 5xx, and nothing that the server's OpenAPI does not state."""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from serving import served, service
from sufficit.controller.service.app import create_app

RUNNING = service()
schema = schemathesis.openapi.from_dict(create_app(RUNNING).openapi())


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with served(RUNNING) as root:
        yield root


@schema.parametrize()
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_every_route_does_what_it_says(case: schemathesis.Case, root: str):
    case.call_and_validate(base_url=root)
