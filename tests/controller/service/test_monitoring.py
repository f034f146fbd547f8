"""What requests leave behind: /metrics and log lines, through the real application."""

import json
import logging

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from serving import RHINE, service
from sufficit.controller.service.app import create_app
from sufficit.controller.service.keys import Client
from sufficit.controller.service.logs import LOGGER, JsonLines
from sufficit.controller.service.service import Service

QUESTION = "Where does the Rhine rise?"
DECIDE = {"question": QUESTION, "passages": [{"text": RHINE}]}


def http(running: Service) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(running), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://test")


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture):
    """The service's log lines so far, as objects."""
    caplog.set_level(logging.INFO, LOGGER.name)
    caplog.handler.setFormatter(JsonLines())
    return lambda: [json.loads(line) for line in caplog.text.splitlines()]


async def read(client: httpx.AsyncClient) -> dict[tuple[str, ...], float]:
    response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


async def test_runs_decisions_and_responses_are_counted():
    async with http(service("service.model=here")) as client:
        await client.post("/v1/answer", json={"question": QUESTION})
        await client.post(
            "/v1/chat/completions",
            json={"model": "here", "messages": [{"role": "user", "content": QUESTION}], "stream": True},
        )
        await client.post("/v1/decide", json=DECIDE)
        await client.post("/v1/answer", json={"question": 7})
        await client.get("/etc/passwd")
        counted = await read(client)
    assert counted["sufficit_answers_total", "answer", "true", "agree"] == 2
    assert counted["sufficit_decisions_total", "answer"] == 2
    assert counted["sufficit_evidence_total", "hit"] == 1
    assert counted["sufficit_sufficiency_score_count",] == 3
    assert counted["sufficit_http_requests_total", "POST", "/v1/answer", "200"] == 1
    assert counted["sufficit_http_requests_total", "POST", "/v1/answer", "422"] == 1
    assert counted["sufficit_http_requests_total", "POST", "/v1/chat/completions", "200"] == 1
    assert counted["sufficit_http_requests_total", "GET", "unmatched", "404"] == 1
    assert counted["sufficit_http_request_seconds_count", "/v1/decide"] == 1
    assert counted["sufficit_queue_working",] == 0
    assert counted["sufficit_cache_lookups_total",] == 0
    assert counted["sufficit_igp_questions",] == 2


async def test_every_request_has_one_line_without_a_word_of_its_content(lines):
    async with http(service()) as client:
        await client.post("/v1/answer", json={"question": QUESTION}, headers={"X-Request-ID": "mine"})
        await client.post("/v1/decide", json=DECIDE)
        await client.post("/v1/answer", json={"question": ""})
        await client.get("/health")
    answered, decided, refused = lines()
    assert answered["request_id"] == "mine"
    assert (answered["route"], answered["status"], answered["method"]) == ("/v1/answer", 200, "POST")
    assert (answered["action"], answered["client"]) == ("answer", "anyone")
    assert answered["generated_tokens"] > 0
    assert answered["seconds"] > 0
    assert decided["decisions"] == {"hit": 1}
    assert (refused["status"], "action" in refused) == (422, False)
    said = json.dumps(lines())
    assert "Rhine" not in said
    assert "scripted" not in said


async def test_content_is_logged_only_when_switched_on(lines):
    async with http(service("service.log_content=true")) as client:
        await client.post("/v1/answer", json={"question": QUESTION})
    (line,) = lines()
    assert (line["question"], line["answer"]) == (QUESTION, "scripted")


async def test_a_request_refused_at_the_door_is_logged_too(lines):
    async with http(service(clients=[Client(name="bot", sha256="0" * 64)])) as client:
        await client.post("/v1/answer", json={"question": QUESTION})
        counted = await read(client)
    (line,) = lines()
    assert (line["status"], line["client"], line["route"]) == (401, None, "unmatched")
    assert counted["sufficit_http_requests_total", "POST", "unmatched", "401"] == 1


async def test_requests_at_once_do_not_mix_their_lines(lines):
    import asyncio

    async with http(service("service.log_content=true")) as client:
        questions = [f"Question {n} about the Rhine?" for n in range(8)]
        await asyncio.gather(*(client.post("/v1/answer", json={"question": q}) for q in questions))
    assert sorted(line["question"] for line in lines()) == questions
