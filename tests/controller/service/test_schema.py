"""Schemathesis against a running server: no 5xx, and nothing that the server's OpenAPI does not state."""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from serving import served, service
from sufficit.controller.service.app import create_app

RUNNING = service()
schema = schemathesis.openapi.from_dict(create_app(RUNNING).openapi())

# A conversation may be refused for what no schema says: that it is somebody else's turn to speak.
EXCLUDED = {"/v1/chat/completions": [positive_data_acceptance]}
SERVED = {"model": "sufficit", "index": "default"}


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with served(RUNNING) as root:
        yield root


@schema.parametrize()
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_every_route_does_what_it_says(case: schemathesis.Case, root: str):
    if isinstance(case.body, dict) and case.meta and case.meta.generation.mode.is_positive:
        # Names that are served, or hardly a request would get past them.
        case.body |= {name: value for name, value in SERVED.items() if isinstance(case.body.get(name), str)}
    case.call_and_validate(base_url=root, excluded_checks=EXCLUDED.get(case.path))
