"""POST /v1/cache/lookup over a real server and real indexes; only the judge and the fetch are made up."""

import asyncio
import hashlib
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from serving import served, service
from staged import FixedSufficiency
from sufficit.controller.cache.fetching import Fetched
from sufficit.controller.service.keys import Client
from sufficit.controller.stages import PageVisit
from sufficit.tools.types import Passage

RISES = Passage("0", "The Rhine rises in the Alps.", "Rhine", "https://r.example/", "https://r.example/")
ASKED = {"question": "Where does the Rhine rise?"}


class Fake:
    def __init__(self, seconds: float = 0.0, brings=(RISES,)) -> None:
        self.seconds = seconds
        self.brings = brings
        self.needs = []

    async def fetch(self, need, keeper):
        self.needs.append(need)
        await asyncio.sleep(self.seconds)
        await keeper.keep(self.brings)
        return Fetched((PageVisit("https://r.example/", len(self.brings)),))


def judge() -> FixedSufficiency:
    return FixedSufficiency(lambda found: 1.0 if "Alps" in found[0].text else -1.0, windows=("rises in",))


def running(tmp_path, fetch=None, *assignments, **more):
    return served(
        service(f"cache.folder={tmp_path / 'cache'}", *assignments, sufficiency=judge(), fetch=fetch, **more)
    )


def key(name: str, **more) -> Client:
    return Client(name=name, sha256=hashlib.sha256(name.encode()).hexdigest(), **more)


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


def test_a_need_is_filled_then_hit(tmp_path):
    with running(tmp_path, Fake()) as root:
        began = time.time()
        first = httpx.post(f"{root}/v1/cache/lookup", json=ASKED).json()
        second = httpx.post(f"{root}/v1/cache/lookup", json=ASKED).json()
    assert first["outcome"] == "filled"
    assert first["fetch"] == {
        "shared": False,
        "pages": [{"url": "https://r.example/", "passages": 1, "fault": ""}],
        "fault": "",
    }
    assert first["decision"]["decision"] == "hit"
    assert (second["outcome"], second["fetch"]) == ("hit", None)
    (held,) = second["passages"]
    assert (held["text"], held["source"]) == (RISES.text, "web:https://r.example/")
    assert held["fetched"] >= began - 1
    assert held["expires"] == first["passages"][0]["expires"] == held["fetched"] + 7 * 86_400


def test_a_miss_gives_its_reason_and_what_to_fetch(tmp_path):
    with running(tmp_path, Fake()) as root:
        missed = httpx.post(f"{root}/v1/cache/lookup", json=ASKED | {"fetch": False}).json()
    assert missed["outcome"] == "miss"
    assert missed["reason"] == "nothing is held that fits the question; this lookup may not fetch"
    assert missed["passages"] == []
    assert missed["decision"]["suggested_query"] == "Rhine"


def test_tenants_and_scopes_share_nothing(tmp_path):
    clients = [key("a"), key("b"), key("c", scope="a")]
    fetch = Fake()
    with running(tmp_path, fetch, clients=clients) as root:

        def outcome(name: str, scope: str = "", may_fetch: bool = False) -> str:
            body = ASKED | {"scope": scope, "fetch": may_fetch}
            return httpx.post(f"{root}/v1/cache/lookup", json=body, headers=bearer(name)).json()["outcome"]

        assert outcome("a", may_fetch=True) == "filled"
        assert outcome("a") == "hit"
        assert outcome("c") == "hit"  # another key of the same tenant
        assert outcome("b") == "miss"
        assert outcome("a", "x") == "miss"
        assert outcome("b", "a") == "miss"
        assert httpx.post(f"{root}/v1/cache/lookup", json=ASKED).status_code == 401
    assert len({need.scope for need in fetch.needs}) == 1


def test_concurrent_misses_share_one_fetch(tmp_path):
    fetch = Fake(seconds=0.3)
    with running(tmp_path, fetch) as root, ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda _: httpx.post(f"{root}/v1/cache/lookup", json=ASKED).json(), range(8))
        )
    assert [answer["outcome"] for answer in answers] == ["filled"] * 8
    assert sum(not answer["fetch"]["shared"] for answer in answers) == len(fetch.needs) == 1


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, "question"),
        ({"question": " "}, 422, "question"),
        ({"question": "a\0b"}, 422, "question"),
        ({"question": 7}, 422, "question"),
        ({"question": "x" * 4001}, 422, "question"),
        (ASKED | {"scope": "s" * 201}, 422, "scope"),
        (ASKED | {"scope": None}, 422, "scope"),
        (ASKED | {"scope": "a\0"}, 422, "scope"),
        (ASKED | {"fetch": "yes"}, 422, "fetch"),
        (ASKED | {"url": "http://169.254.169.254/"}, 422, "url"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, body, status, field):
    with running(tmp_path, Fake()) as root:
        answer = httpx.post(f"{root}/v1/cache/lookup", json=body)
    assert answer.status_code == status
    assert answer.json()["error"]["field"] == field


def test_broken_json_and_half_a_surrogate_pair_are_the_clients_fault(tmp_path):
    with running(tmp_path, Fake()) as root:
        for content in (b'{"question": ', b'{"question": "\\ud800"}', b"\xff"):
            answer = httpx.post(
                f"{root}/v1/cache/lookup", content=content, headers={"content-type": "application/json"}
            )
            assert answer.status_code in (400, 422)


def test_no_room_deadline_and_budget_are_said_as_such(tmp_path):
    clients = [key("a", decisions_per_day=2)]
    with running(tmp_path, Fake(), "cache.scopes=1", clients=clients) as root:

        def ask(scope: str) -> httpx.Response:
            return httpx.post(f"{root}/v1/cache/lookup", json=ASKED | {"scope": scope}, headers=bearer("a"))

        assert ask("x").json()["outcome"] == "filled"
        full = ask("y")
        assert (full.status_code, full.json()["error"]["field"]) == (422, "scope")
        assert ask("x").status_code == 429
    slow = Fake(seconds=5)
    with running(tmp_path / "slow", slow, "budget.seconds=0.3") as root:
        late = httpx.post(f"{root}/v1/cache/lookup", json=ASKED)
    assert (late.status_code, late.json()["error"]["type"]) == (504, "deadline")


def test_expired_passages_are_swept_while_the_service_runs(tmp_path):
    loaded = service(
        f"cache.folder={tmp_path / 'cache'}",
        "cache.keep_seconds=1",
        "cache.sweep_seconds=0.2",
        sufficiency=judge(),
        fetch=Fake(),
    )
    with served(loaded) as root:
        assert httpx.post(f"{root}/v1/cache/lookup", json=ASKED).json()["outcome"] == "filled"
        deadline = time.monotonic() + 10
        while not loaded.cache.counters().swept and time.monotonic() < deadline:
            time.sleep(0.05)
        assert loaded.cache.counters().swept == 1
