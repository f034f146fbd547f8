"""The operator's webhook, over a site on loopback."""

import asyncio
import json
import time
from collections.abc import AsyncIterator

import pytest
from sufficit.controller.cache.fetching import Need
from sufficit.controller.cache.settings import WebhookSettings
from sufficit.controller.cache.shelf import Shelf
from sufficit.controller.cache.webhook import Webhook
from sufficit.controller.web import Keeper
from sufficit.tools.errors import IndexLocked, SettingsError
from website import Request, Site, start

NEED = Need("Where does the Rhine rise?", "a")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as served:
        yield served


@pytest.fixture
def shelf(tmp_path) -> Shelf:
    return Shelf(tmp_path / "shelf", "a", time.time)


def hook(site: Site, **changes) -> Webhook:
    return Webhook.of(WebhookSettings(url=site.url("/hook"), **changes))


def answers(site: Site, body: object, status: int = 200) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    site.serve("/hook", text, status, content_type="application/json")


async def test_the_webhook_is_asked_with_its_key_and_its_passages_are_kept(site, shelf, monkeypatch):
    monkeypatch.setenv("HOOK_KEY", "Bearer s3cret")
    given = [
        {"text": "The Rhine rises in the Alps.", "url": "https://r.example/", "title": "Rhine"},
        {"text": "It is 1,230 km long.", "source": "lengths", "id": "7", "more": "ignored"},
        {"text": "The Rhine ends in the sea.", "url": "https://r.example/"},
    ]
    answers(site, {"passages": given, "keep_seconds": 20})
    fetched = await hook(site, key_variable="HOOK_KEY").fetch(NEED, Keeper(shelf, 60))
    assert (fetched.passages, fetched.faults) == (3, ())
    assert site.requests[-1].headers["authorization"] == "Bearer s3cret"
    held = await shelf.search("Rhine km", 9)
    assert {p.source for p in held} == {"web:https://r.example/", "web:lengths"}
    assert {p.metadata["expires"] - p.metadata["fetched"] for p in held} == {20}
    assert len(held) == 3


async def test_a_webhook_cannot_lengthen_how_long_passages_are_kept(site, shelf):
    answers(site, {"passages": [{"text": "The Rhine."}], "keep_seconds": 9e9})
    await hook(site).fetch(NEED, Keeper(shelf, 60))
    (held,) = await shelf.search("Rhine", 9)
    assert held.metadata["expires"] - held.metadata["fetched"] == 60


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        ({"passages": []}, 200, "no passage"),
        ({"passages": [{"text": ""}]}, 200, "passages.0.text"),
        ({"found": 1}, 200, "passages"),
        ("<html>", 200, "JSON"),
        ({"passages": [{"text": "x"}] * 4}, 200, "more than 3"),
        ({"passages": [{"text": "x" * 3000}]}, 200, "longer than 2,000 bytes"),
        ({"passages": [{"text": "x"}]}, 503, "answers 503"),
        ({"passages": [{"text": "x"}], "keep_seconds": -1}, 200, "keep_seconds"),
        ('{"passages": [{"text": "x"}], "keep_seconds": NaN}', 200, "keep_seconds"),
        (r'{"passages": [{"text": "\ud800"}]}', 200, "the body"),
    ],
)
async def test_an_answer_of_another_kind_is_a_fault_and_nothing_is_kept(site, shelf, body, status, why):
    answers(site, body, status)
    fetched = await hook(site, passages=3, answer_bytes=2000).fetch(NEED, Keeper(shelf, 60))
    assert fetched.passages == 0
    assert why in fetched.faults[0]
    assert fetched.faults[0].startswith("webhook: ")
    assert not shelf.exists


async def test_a_webhook_that_is_not_there_or_redirects_is_a_fault(site, shelf):
    site.redirect("/hook", "http://10.0.0.1/")
    keeper = Keeper(shelf, 60)
    assert "answers 302" in (await hook(site).fetch(NEED, keeper)).faults[0]
    gone = Webhook.of(WebhookSettings(url="http://127.0.0.1:9/"))
    assert "ConnectError" in (await gone.fetch(NEED, keeper)).faults[0]


async def test_the_webhook_is_posted_the_question_and_its_scope_and_no_key_unless_there_is_one(site, shelf):
    posted = []

    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().casefold()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        posted.append((head, await reader.readexactly(length)))
        writer.write(b"HTTP/1.1 204 X\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(read, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
        fetched = await Webhook.of(WebhookSettings(url=url)).fetch(NEED, Keeper(shelf, 60))
    ((head, body),) = posted
    assert head.startswith("post /hook ")
    assert "authorization" not in head
    assert json.loads(body) == {"question": NEED.question, "scope": NEED.scope}
    assert fetched.faults == ("webhook: the webhook answers 204",)


async def test_an_answer_at_its_limits_is_taken(site, shelf):
    body = json.dumps({"passages": [{"text": "one"}, {"text": "two"}, {"text": "three"}]})
    answers(site, body)
    fetched = await hook(site, passages=3, answer_bytes=len(body)).fetch(NEED, Keeper(shelf, 60))
    assert (fetched.passages, fetched.faults) == (3, ())
    over = await hook(site, answer_bytes=len(body) - 1).fetch(NEED, Keeper(shelf, 60))
    assert "longer than" in over.faults[0]


async def test_an_answer_that_drips_for_ever_ends_when_its_time_is_over(site, shelf):
    @site.route("/hook")
    async def drip(request: Request, writer: asyncio.StreamWriter) -> None:
        start(writer)
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)

    fetched = await hook(site, seconds=0.2).fetch(NEED, Keeper(shelf, 60))
    assert fetched.faults == ("webhook: no answer within 0.2 s",)


async def test_passages_that_cannot_be_kept_are_a_fault(site):
    class Locked:
        def replace(self, passages) -> None:
            raise IndexLocked("somebody else writes")

    answers(site, {"passages": [{"text": "The Rhine."}]})
    fetched = await hook(site).fetch(NEED, Keeper(Locked(), 60))
    assert (fetched.passages, fetched.faults) == (0, ("webhook: not kept: somebody else writes",))


@pytest.mark.parametrize("url", ["http://", "http://[::1", "http://xn--/"])
async def test_an_address_that_is_none_is_a_fault(shelf, url):
    fetched = await Webhook.of(WebhookSettings(url=url)).fetch(NEED, Keeper(shelf, 60))
    assert fetched.faults[0].startswith("webhook: ")


def test_the_key_has_to_be_in_the_environment():
    with pytest.raises(SettingsError, match=r"cache\.webhook\.key_variable = 'NO_SUCH'"):
        Webhook.of(WebhookSettings(url="http://h/", key_variable="NO_SUCH"))


async def test_the_key_goes_in_the_header_that_the_settings_name(site, shelf, monkeypatch):
    monkeypatch.setenv("HOOK_KEY", "s3 cret")
    answers(site, {"passages": [{"text": "The Rhine."}]})
    await hook(site, key_variable="HOOK_KEY", key_header="X-Key").fetch(NEED, Keeper(shelf, 60))
    assert site.requests[-1].headers["x-key"] == "s3 cret"
    assert "authorization" not in site.requests[-1].headers
