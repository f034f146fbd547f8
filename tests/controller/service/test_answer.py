"""POST /v1/answer over a real server: the object of `ask --json`, and its stages as they happen."""

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any, get_args, get_type_hints

import httpx
import pytest
from pydantic import BaseModel
from serving import RHINE, served, service
from staged import FixedSearch, FixedSufficiency
from sufficit.controller.answer import Answer
from sufficit.controller.service.answer_body import AnswerBody
from sufficit.controller.service.keys import Client
from sufficit.tools.errors import CapabilityError

QUESTION = {"question": "Where does the Rhine rise?"}


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with served(service("budget.rounds=2", "budget.seconds=50")) as root:
        yield root


def stages(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    """(event, data) of every server-sent event, as it comes."""
    name = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def test_the_answer_object(root: str):
    answer = httpx.post(f"{root}/v1/answer", json=QUESTION).json()
    assert set(answer) == {field.name for field in fields(Answer)} | {"trace"}
    assert (answer["action"], answer["answer"], answer["source"]) == ("answer", "scripted", "agree")
    assert answer["citations"][0]["text"] == RHINE
    assert answer["trace"] is None


def same_fields(body: Any, of: Any, where: str) -> None:
    """Every field of the dataclass, and no other, all the way down, each with its description."""
    assert set(body.model_fields) == {field.name for field in fields(of)}, where
    for name, field in body.model_fields.items():
        assert field.description, f"{where}.{name}"
        models = [t for t in (field.annotation, *get_args(field.annotation)) if isinstance(t, type)]
        hint = get_type_hints(of)[name]
        inner = [t for t in (hint, *get_args(hint)) if is_dataclass(t)]
        for model, dataclass in zip((m for m in models if issubclass(m, BaseModel)), inner, strict=True):
            same_fields(model, dataclass, f"{where}.{name}")


def test_openapi_states_every_field_of_the_answer():
    same_fields(AnswerBody, Answer, "answer")


def test_a_budget_lowers_the_servers_and_never_raises_it(root: str):
    wanted = {"rounds": 9, "model_calls": 3, "seconds": 1e6}
    answer = httpx.post(f"{root}/v1/answer", json=QUESTION | {"budget": wanted}).json()
    budget = answer["budget"]
    total = {limit: budget["spent"][limit] + budget["left"][limit] for limit in budget["left"]}
    assert (total["rounds"], total["model_calls"]) == (2, 3)
    assert total["seconds"] <= 50
    assert "budget.model_calls = 3" in answer["reason"]


def test_a_trace_without_the_servers_settings(root: str):
    answer = httpx.post(f"{root}/v1/answer", json=QUESTION | {"trace": True}).json()
    kinds = [event["kind"] for event in answer["trace"]]
    assert (kinds[0], kinds[-1]) == ("started", "finished")
    assert "settings" not in answer["trace"][0]


class Slowly(FixedSufficiency):
    """Scores when it may go on."""

    def __init__(self, go: threading.Event) -> None:
        super().__init__(lambda pool: 1.0)
        self._go = go

    async def score(self, question: str, pool: Any) -> Any:
        assert await asyncio.to_thread(self._go.wait, 10)
        return await super().score(question, pool)


@pytest.mark.parametrize("how", ["stream", "accept"])
def test_stages_as_they_happen(how: str):
    go = threading.Event()
    body = QUESTION | ({"stream": True} if how == "stream" else {})
    headers = {"Accept": "text/event-stream"} if how == "accept" else {}
    with (
        served(service(sufficiency=Slowly(go))) as root,
        httpx.stream("POST", f"{root}/v1/answer", json=body, headers=headers) as response,
    ):
        assert response.headers["content-type"].startswith("text/event-stream")
        coming = stages(response)
        seen = [next(coming) for _ in range(2)]
        assert {name for name, _ in seen} == {"started", "retrieved"}
        assert "settings" not in seen[0][1]
        go.set()
        rest = list(coming)
    assert (rest[0][0], rest[-1][0]) == ("scored", "answer")
    assert rest[-1][1]["answer"] == "scripted"


def test_an_error_after_the_stream_has_begun_is_its_last_event():
    def broken(pool: Any) -> float:
        raise CapabilityError("the model cannot do this")

    with (
        served(service(sufficiency=FixedSufficiency(broken))) as root,
        httpx.stream("POST", f"{root}/v1/answer", json=QUESTION | {"stream": True}) as response,
    ):
        *_, (name, data) = stages(response)
    assert (name, data["error"]["type"]) == ("error", "misconfigured")
    assert data["error"]["request_id"] == response.headers["x-request-id"]


def test_an_abstention_is_an_answer_with_a_reason():
    with served(service(sufficiency=FixedSufficiency(lambda pool: -1.0))) as root:
        response = httpx.post(f"{root}/v1/answer", json=QUESTION)
    assert response.status_code == 200
    assert (response.json()["action"], response.json()["answer"]) == ("abstain", None)
    assert "does not reach the threshold" in response.json()["reason"]


def test_infinities_are_texts():
    with served(
        service("trustmargin.tau=-5", sufficiency=FixedSufficiency(lambda pool: float("inf")))
    ) as root:
        answer = httpx.post(f"{root}/v1/answer", json=QUESTION).json()
    assert answer["sufficiency"]["score"] == "Infinity"


def test_tokens_come_out_of_the_keys_budget():
    bot = Client(name="bot", sha256=sha256(b"k").hexdigest(), tokens_per_day=70)
    running = service("generator.answer_tokens=16", "igp.max_tokens=16", clients=[bot])
    with served(running) as root:
        key = {"Authorization": "Bearer k"}
        answer = httpx.post(f"{root}/v1/answer", json=QUESTION, headers=key).json()
        spent = answer["budget"]["spent"]["generated_tokens"]
        assert 0 < spent <= 70
        assert running.keys.left(bot, "tokens_per_day") == 70 - spent
        running.keys.spend(bot, "tokens_per_day", 70 - spent)
        refused = httpx.post(f"{root}/v1/answer", json=QUESTION, headers=key)
    assert (refused.status_code, refused.json()["error"]["type"]) == (429, "budget_spent")
    assert int(refused.headers["Retry-After"]) >= 1


def test_many_at_once_are_answered_as_one_alone(root: str):
    def asked(number: int) -> Any:
        body = {"question": f"Question {number}?", "trace": True}
        return httpx.post(f"{root}/v1/answer", json=body, timeout=30).json()

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(asked, range(64)))
    assert [a["trace"][0]["question"] for a in answers] == [f"Question {n}?" for n in range(64)]
    assert {a["answer"] for a in answers} == {"scripted"}


def test_a_failing_search_is_an_abstention_not_an_error():
    def broken(query: str) -> list:
        raise OSError("the index is gone")

    with served(service(search=FixedSearch(broken))) as root:
        answer = httpx.post(f"{root}/v1/answer", json=QUESTION)
        ready = httpx.get(f"{root}/ready")
    assert (answer.status_code, answer.json()["action"]) == (200, "abstain")
    assert (ready.status_code, ready.json()["status"]) == (503, "index unavailable")
