import json

import pytest
from sufficit.tools.errors import FetchFailed, FetchRefused, SettingsError
from sufficit.tools.types import Hit
from website import LOOPBACK, Names, Site, settings, web

SEARXNG = {
    "results": [
        {"url": "https://a.example/", "title": "A", "content": "about a"},
        {"url": "https://b.example/"},
        {"url": "https://a.example/", "title": "again"},
        {"title": "no url"},
        {"url": None},
        "nonsense",
        {"url": "https://c.example/", "title": ["no", "text"], "content": "x" * 5000},
    ]
}
BRAVE = {"web": {"results": [{"url": "https://a.example/", "title": "A", "description": "about a"}]}}
OWN = {"data": {"hits": [{"doc": {"link": "https://a.example/"}, "name": "A", "text": "about a"}]}}


def of(site: Site, **search: object):
    """A search on a host that pages may not be fetched from."""
    return web(
        settings(search={"urls": [], **search}, fetch={"attempts": 1}), Names({"find.example": [[LOOPBACK]]})
    )


async def test_searxng(site: Site):
    site.serve("/search", json.dumps(SEARXNG), content_type="application/json")
    tools = of(site, engine="searxng", url=site.url("/", "find.example"))
    hits = await tools.search.search("Where? & when=now #1 ü", 9)
    assert hits[:2] == [Hit("https://a.example/", "A", "about a"), Hit("https://b.example/")]
    assert [hit.url for hit in hits[2:]] == ["https://c.example/"]
    assert (hits[2].title, len(hits[2].snippet)) == ("", 2000)
    assert site.paths() == ["/search?q=Where%3F+%26+when%3Dnow+%231+%C3%BC&format=json"]
    assert len(await tools.search.search("q", 1)) == 1
    # That the engine may be asked does not open its host to pages.
    for url in (site.url("/search", "find.example"), site.url("/search")):
        with pytest.raises(FetchRefused):
            await tools.fetcher.fetch(url)


async def test_brave_with_its_key(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", "secret")
    site.redirect("/res", "/moved")
    site.serve("/moved", json.dumps(BRAVE), content_type="application/json")
    chosen = {"engine": "brave", "url": site.url("/res"), "key_variable": "MY_KEY"}
    assert await of(site, **chosen).search.search("q", 3) == [Hit("https://a.example/", "A", "about a")]
    assert [r.headers["x-subscription-token"] for r in site.requests] == ["secret"] * 2
    assert site.requests[0].path == "/res?q=q&count=3"
    await of(site, **chosen).search.search("q", 100)
    assert site.requests[2].path == "/res?q=q&count=20"
    async with Site() as other:
        site.redirect("/res", other.url("/stolen"))
        with pytest.raises(FetchRefused):
            await of(site, **chosen).search.search("q", 3)
        assert other.requests == []
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(SettingsError, match="no such variable"):
        of(site, **chosen)


async def test_any_json(site: Site):
    site.serve("/find", json.dumps(OWN), content_type="text/plain")
    fields = {"results": "data.hits", "url": "doc.link", "title": "name", "snippet": "text"}
    url = site.url("/find") + "?terms={query}&n={k}"
    tools = of(site, engine="json", url=url, fields=fields)
    assert await tools.search.search("{k} x", 2) == [Hit("https://a.example/", "A", "about a")]
    assert site.paths() == ["/find?terms=%7Bk%7D+x&n=2"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ("<html>", 200, "does not answer in JSON"),
        ("[" * 100_000, 200, "does not answer in JSON"),
        ("{}", 200, "has no list at 'results'"),
        ('{"results": {}}', 200, "has no list"),
        ("[1]", 200, "has no list"),
        ("{}", 403, "answers 403"),
        ('{"results": [' + '"x",' * 1_000_000, 200, "does not answer in JSON"),
    ],
)
async def test_answers_of_another_form_are_failures(site: Site, body: str, status: int, message: str):
    site.serve("/search", body, status, content_type="application/json")
    with pytest.raises(FetchFailed, match=message):
        await of(site, engine="searxng", url=site.url()).search.search("q", 3)


@pytest.mark.parametrize("url", ["find.example/search?q={query}", "http://[x/{query}", "mailto:{query}"])
def test_an_engine_needs_a_whole_url(url: str):
    with pytest.raises(SettingsError, match=r"web\.search\.url"):
        web(settings(search={"engine": "json", "url": url}))
