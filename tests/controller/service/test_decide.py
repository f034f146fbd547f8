"""POST /v1/decide: hit or miss, in one RINSE pass, and nothing generated."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from scripted import ScriptedGenerator
from serving import RHINE, service
from staged import FixedSearch, FixedSufficiency, passages
from sufficit.controller.service.app import create_app
from sufficit.controller.service.keys import Client
from sufficit.policies.kept_for import KeptFor
from sufficit.policies.rinse.idf import PieceCounts
from sufficit.policies.types import ReaderScore, SufficiencyReport, WindowCoverage
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.types import Passage

QUESTION = "Who leads the team that won the regatta in 2024?"


@dataclass
class Counted:
    """Suffices where a passage says so; counts its passes, and how many go on at once."""

    passes: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    seconds: float = 0.0
    at_once: int = 0
    most_at_once: int = 0

    async def score(self, question: str, pool: Sequence[Passage]) -> SufficiencyReport:
        self.passes.append((question, tuple(passage.text for passage in pool)))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self.seconds)
        self.at_once -= 1
        if not pool:
            return SufficiencyReport(None, 0.5, (), (), 0)
        score = 1.0 if any("suffices" in passage.text for passage in pool) else 0.25
        coverage = (
            WindowCoverage("who leads the team", 0.25, 0.1),
            WindowCoverage("that won the regatta", 1.0, 0.9),
            WindowCoverage("in 2024", 0.0, 0.2),
        )
        readers = (ReaderScore("content", 2.0, 0.5, score),)
        return SufficiencyReport(score, 0.5, readers, coverage, len(pool))


def decide(running: Any, body: Any, **headers: str):
    return TestClient(create_app(running)).post("/v1/decide", json=body, headers=headers)


def item(*texts: str, question: str = QUESTION) -> dict[str, Any]:
    return {"question": question, "passages": [{"text": text} for text in texts]}


def test_a_miss_says_what_is_missing_and_what_to_ask_for():
    counted, generator = Counted(), ScriptedGenerator()
    response = decide(service(sufficiency=counted, generator=generator), item("a", "b"))
    assert response.json() == {
        "decision": "miss",
        "score": 0.25,
        "threshold": 0.5,
        "readers": [{"reader": "content", "raw": 2.0, "size_correction": 0.5, "standardised": 0.25}],
        "uncovered": [
            {"text": "in 2024", "overlap": 0.0, "relevance": 0.2},
            {"text": "who leads the team", "overlap": 0.25, "relevance": 0.1},
        ],
        "suggested_query": "Who leads the team in 2024",
        "passages": 2,
        "kept_for": None,
    }
    assert counted.passes == [(QUESTION, ("a", "b"))]
    assert generator.calls == []


def test_a_hit_needs_no_query():
    decision = decide(service(sufficiency=Counted()), item("this suffices")).json()
    assert (decision["decision"], decision["suggested_query"]) == ("hit", None)


def test_an_empty_cache_is_a_miss_without_a_score():
    decision = decide(service(sufficiency=Counted()), item()).json()
    assert (decision["decision"], decision["score"], decision["passages"]) == ("miss", None, 0)
    assert [window["text"] for window in decision["uncovered"]] == [QUESTION]
    assert decision["suggested_query"]


def test_where_no_narrower_query_is_left_the_question_is_asked():
    decision = decide(service(sufficiency=Counted()), item(question="why")).json()
    assert decision["suggested_query"] == "why"


def test_an_index_of_the_server():
    search = FixedSearch(lambda query: passages(RHINE, "it suffices"))
    counted = Counted()
    running = service("index.passages_per_round=2", search=search, sufficiency=counted)
    decision = decide(running, {"question": f" {QUESTION} ", "index": "default"}).json()
    assert (decision["decision"], decision["passages"]) == ("hit", 2)
    assert search.queries == [QUESTION]


def test_a_batch_of_a_thousand_keeps_its_order():
    counted = Counted()
    items = [
        item("suffices" if number % 3 else "no", question=f"question {number}") for number in range(1000)
    ]
    response = decide(service(sufficiency=counted), {"items": items})
    assert response.status_code == 200
    assert [d["decision"] for d in response.json()["decisions"]] == [
        "hit" if number % 3 else "miss" for number in range(1000)
    ]
    assert sorted(question for question, _ in counted.passes) == sorted(i["question"] for i in items)
    assert 1 < counted.most_at_once <= 8


def test_a_batch_of_one_stays_a_batch():
    response = decide(service(sufficiency=Counted()), {"items": [item("a")]})
    assert [d["decision"] for d in response.json()["decisions"]] == ["miss"]


def test_the_deadline():
    running = service("budget.seconds=0.05", sufficiency=Counted(seconds=0.1))
    response = decide(running, {"items": [item("a")] * 50})
    assert (response.status_code, response.json()["error"]["type"]) == (504, "deadline")
    assert running.room.working == 0


def test_decisions_come_out_of_the_keys_budget():
    bot = Client(name="bot", sha256=sha256(b"k").hexdigest(), decisions_per_day=5)
    running, key = service(clients=[bot]), {"Authorization": "Bearer k"}
    assert decide(running, {"items": [item("a")] * 4}, **key).status_code == 200
    refused = decide(running, {"items": [item("a")] * 2}, **key)
    assert (refused.status_code, refused.json()["error"]["type"]) == (429, "budget_spent")
    assert decide(running, item("a"), **key).status_code == 200


def test_a_model_that_fails_is_a_503():
    def broken(pool: Any) -> float:
        raise ModelOutputError("the reranker returned NaN")

    response = decide(service(sufficiency=FixedSufficiency(broken)), {"items": [item("a")] * 3})
    assert (response.status_code, response.json()["error"]["type"]) == (503, "unavailable")


@pytest.mark.parametrize("logged", [False, True])
def test_a_fault_nobody_foresaw_is_logged_without_what_was_asked(
    caplog: pytest.LogCaptureFixture, logged: bool
):
    def broken(pool: Sequence[Passage]) -> float:
        raise RuntimeError(f"cannot read {pool[0].text}")

    running = service(f"service.log_content={str(logged).lower()}", sufficiency=FixedSufficiency(broken))
    response = decide(running, item("a confidential matter"))
    error = response.json()["error"]
    assert (response.status_code, error["type"]) == (500, "internal")
    assert "confidential" not in response.text
    assert error["request_id"] in caplog.text
    assert "RuntimeError" in caplog.text
    assert ("confidential" in caplog.text) == logged


class Alike:
    """Every two questions are as alike as two others; words are pieces."""

    fingerprint = "f"

    def pieces(self, text: str) -> list[str]:
        return text.lower().replace("?", "").replace(".", "").split()

    def join(self, pieces: Sequence[str]) -> str:
        return " ".join(pieces)

    async def score(self, queries: Sequence[str], texts: Sequence[str]) -> Any:
        return np.array([[1.0 if q == t else 0.8 for t in texts] for q in queries], np.float32)


def test_what_passages_were_kept_for_decides():
    counted = Counted()
    kept_for = KeptFor(Alike(), Alike(), PieceCounts(9, {}), 0.79)
    running = replace(service(sufficiency=counted), kept_for=kept_for)
    about = "Who leads the team that won the regatta of 2024?"
    body = item("The Gulls won. Ada leads them.", "Of rowing.", "suffices")
    for passage in body["passages"][:2]:
        passage["kept_for"] = about
    hit = decide(running, body).json()
    # The passages that nothing is said of are left out; one pass, whose score does not decide.
    assert counted.passes == [(QUESTION, ("The Gulls won. Ada leads them.", "Of rowing."))]
    assert (hit["decision"], hit["score"], hit["suggested_query"]) == ("hit", 0.25, None)
    assert hit["kept_for"] == {
        "question": about, "cosine": pytest.approx(0.8), "covered": 0.0, "uncovered": 0.0, "missing": [],
        "score": pytest.approx(0.8), "threshold": 0.79,
    }  # fmt: skip
    other = decide(running, body | {"question": "Who leads the team that won the regatta in 2023?"}).json()
    assert (other["decision"], other["kept_for"]["missing"]) == ("miss", ["2023"])
    assert other["suggested_query"]
    # RINSE alone decides where no passage says, or the settings say so.
    assert decide(running, item("suffices")).json()["kept_for"] is None
    alone = decide(service(sufficiency=counted), body).json()
    assert (alone["decision"], alone["kept_for"]) == ("hit", None)
