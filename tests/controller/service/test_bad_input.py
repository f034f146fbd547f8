"""Whatever is wrong with a request is a 4xx in the one format that names the field."""

import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest
from fastapi.testclient import TestClient
from serving import service
from sufficit.controller.service.app import create_app
from sufficit.controller.service.keys import Client

JSON = {"Content-Type": "application/json"}
QUESTION = "Where does the Rhine rise?"
PASSAGE = {"text": "In the Alps."}


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(create_app(service()))


def sent(client: TestClient, path: str, body: Any, **headers: str):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(path, content=content, headers=JSON | headers)


ANSWERS = {
    "no question": ({}, 422, "question", "missing_field"),
    "empty": ({"question": " \n"}, 422, "question", "invalid_value"),
    "wrong type": ({"question": 3}, 422, "question", "invalid_value"),
    "no coercion": ({"question": QUESTION, "trace": "yes"}, 422, "trace", "invalid_value"),
    "null character": ({"question": "a\0b"}, 422, "question", "invalid_value"),
    "half a pair": ({"question": "a\ud800b"}, 422, "question", "invalid_value"),
    "half a pair as a name": ({"question": QUESTION, "\udfff": 1}, 422, "body", "invalid_value"),
    "too long": ({"question": "a" * 4001}, 422, "question", "invalid_value"),
    "unknown field": ({"question": QUESTION, "colour": 1}, 422, "colour", "unknown_field"),
    "unknown limit": ({"question": QUESTION, "budget": {"cents": 1}}, 422, "budget.cents", "unknown_field"),
    "negative": ({"question": QUESTION, "budget": {"rounds": -1}}, 422, "budget.rounds", "invalid_value"),
    "no time": ({"question": QUESTION, "budget": {"seconds": 0}}, 422, "budget.seconds", "invalid_value"),
    "not a number": (
        b'{"question": "a", "budget": {"seconds": NaN}}',
        422,
        "budget.seconds",
        "invalid_value",
    ),
    "huge": (b'{"question": "a", "budget": {"rounds": 1e999}}', 422, "budget.rounds", "invalid_value"),
    "digits": (
        b'{"question": "a", "budget": {"rounds": ' + b"9" * 5000 + b"}}",
        400,
        "body",
        "malformed_body",
    ),
    "unknown model": ({"question": QUESTION, "model": "gpt"}, 404, "model", "unknown_model"),
    "list": ([], 422, "body", "invalid_value"),
    "broken": (b'{"question": ', 400, "body", "malformed_body"),
    "empty body": (b"", 422, "body", "missing_field"),
    "no UTF-8": (b'{"question": "\xff"}', 400, "body", "malformed_body"),
    "nested": (b"[" * 200_000, 400, "body", "malformed_body"),
    "10 MB": (b'{"question": "' + b"a" * 10_000_000 + b'"}', 413, "body", "body_too_long"),
}
DECISIONS = {
    "neither": ({"question": QUESTION}, 422, "passages", "missing_field"),
    "both": (
        {"question": QUESTION, "passages": [], "index": "default"},
        422,
        "index",
        "unknown_field",
    ),
    "unknown index": ({"question": QUESTION, "index": "web"}, 404, "index", "unknown_index"),
    "thousands": ({"question": QUESTION, "passages": [PASSAGE] * 5000}, 422, "passages", "invalid_value"),
    "passage": (
        {"question": QUESTION, "passages": [PASSAGE, {"text": "a\0"}]},
        422,
        "passages.1.text",
        "invalid_value",
    ),
    "long passage": (
        {"question": QUESTION, "passages": [{"text": "a" * 10_001}]},
        422,
        "passages.0.text",
        "invalid_value",
    ),
    "text as passage": ({"question": QUESTION, "passages": ["a"]}, 422, "passages.0", "invalid_value"),
    "passages as text": ({"question": QUESTION, "passages": "a"}, 422, "passages", "invalid_value"),
    "no items": ({"items": []}, 422, "items", "invalid_value"),
    "1,001 items": (
        {"items": [{"question": QUESTION, "index": "default"}] * 1001},
        422,
        "items",
        "invalid_value",
    ),
    "item": ({"items": [{"question": QUESTION, "index": "x"}]}, 404, "items.0.index", "unknown_index"),
    "item's question": (
        {"items": [{"question": QUESTION, "passages": []}, {"question": "a" * 4001, "passages": []}]},
        422,
        "items.1.question",
        "invalid_value",
    ),
    "item of a wrong type": ({"items": [3]}, 422, "items.0", "invalid_value"),
    "half a pair as an index": ({"question": QUESTION, "index": "\ud800"}, 422, "index", "invalid_value"),
}


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"model": "sufficit", "messages": [{"role": "user", "content": content}], **more}


IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
CHATS = {
    "no text": (said(3), "messages.0.content"),
    "null character": (said("a\0"), "messages.0.content"),
    "half a pair in a part": (
        said([{"type": "text", "text": "\ud800"}]),
        "messages.0.content.0.text",
    ),
    "image": (said([IMAGE]), "messages.0.content.0.type"),
    "stop": (said("a", stop=3), "stop"),
    "empty stop": (said("a", stop=["b", ""]), "stop.1"),
}
CASES = {f"answer: {name}": ("/v1/answer", *case) for name, case in ANSWERS.items()} | {
    f"decide: {name}": ("/v1/decide", *case) for name, case in DECISIONS.items()
}
CASES |= {
    f"chat: {name}": ("/v1/chat/completions", body, 422, field, "invalid_value")
    for name, (body, field) in CHATS.items()
}


@pytest.mark.parametrize(("path", "body", "status", "field", "kind"), CASES.values(), ids=CASES)
def test_it_names_the_field(client: TestClient, path: str, body: Any, status: int, field: str, kind: str):
    response = sent(client, path, body)
    error = response.json()["error"]
    assert (response.status_code, error["field"], error["type"]) == (status, field, kind)
    assert error["request_id"] == response.headers["X-Request-ID"]
    assert set(error) == {"type", "message", "field", "request_id"}
    assert len(error["message"]) < 500


def test_a_body_that_is_not_declared_as_json(client: TestClient):
    response = client.post("/v1/answer", content=b'{"question": "a"}', headers={"Content-Type": "text/plain"})
    assert response.status_code == 415
    assert response.json()["error"]["field"] == "Content-Type"


def test_a_whole_number_may_be_written_with_a_point(client: TestClient):
    for body in (
        b'{"question": "a", "budget": {"rounds": 2.0}}',
        b'{"question": "a", "budget": {"rounds": 2}}',
    ):
        assert sent(client, "/v1/answer", body).status_code == 200
    refused = sent(client, "/v1/answer", b'{"question": "a", "budget": {"rounds": 2.5}}')
    assert refused.json()["error"]["field"] == "budget.rounds"
    chat = {**said("a"), "n": 1.0, "max_tokens": 2.0, "seed": 7.0}
    assert sent(client, "/v1/chat/completions", chat).status_code == 200


def test_unknown_routes_and_methods(client: TestClient):
    assert client.get("/v2/answer").json()["error"]["type"] == "not_found"
    wrong = client.get("/v1/answer")
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "POST")
    assert wrong.json()["error"]["type"] == "method_not_allowed"


def test_keys():
    def key(name: str, **more: Any) -> Client:
        return Client(name=name, sha256=sha256(name.encode()).hexdigest(), **more)

    old = key("old", expires=datetime(2020, 1, 1, tzinfo=UTC))
    guarded = TestClient(create_app(service(clients=[key("good"), old])))
    body = {"question": QUESTION}

    def asked(authorization: str | None):
        headers = {} if authorization is None else {"Authorization": authorization}
        return sent(guarded, "/v1/answer", body, **headers)

    assert asked("Bearer good").status_code == 200
    for header, kind in [
        (None, "key_missing"),
        ("Basic good", "key_missing"),
        ("Bearer ", "key_missing"),
        ("Bearer bad", "key_unknown"),
        ("Bearer old", "key_expired"),
    ]:
        refused = asked(header)
        error = refused.json()["error"]
        assert (refused.status_code, error["type"], error["field"]) == (401, kind, "Authorization")
        assert refused.headers["WWW-Authenticate"] == "Bearer"
    # A body is not even looked at without a key, and health needs none.
    assert sent(guarded, "/v1/answer", b"{").status_code == 401
    assert guarded.get("/v1/models").status_code == 401
    assert guarded.get("/health").status_code == 200
    assert guarded.get("/openapi.json").json()["paths"]["/v1/answer"]["post"]["security"]
