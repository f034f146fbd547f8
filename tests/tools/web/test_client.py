"""The fetcher against a site that misbehaves in every way that HTTP allows."""

import asyncio
import gzip
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest
from sufficit.tools.errors import FetchFailed, FetchRefused
from sufficit.tools.web.settings import WebSettings
from website import LOOPBACK, Names, Request, Site, article, settings, start, web

TEXT = article("The Rhine rises in the Alps. " * 20)


async def fetch(site: Site, path: str, names: Names | None = None, host: str = LOOPBACK, **sections: dict):
    return await web(settings(site, **sections), names).fetcher.fetch(site.url(path, host))


async def test_a_page_as_it_is(site: Site):
    site.serve("/a", TEXT, content_type="text/html; charset=ISO-8859-1")
    page = await fetch(site, "/a#part")
    assert (page.url, page.kind, page.charset, page.truncated) == (
        site.url("/a"),
        "html",
        "iso-8859-1",
        False,
    )
    assert page.content == TEXT.encode()
    sent = site.requests[-1].headers
    assert sent["user-agent"] == "Sufficit/0.1"
    assert sent.keys() == {"host", "accept", "accept-encoding", "user-agent"}


# --- redirects ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed_to_the_end(site: Site, status: int):
    site.redirect("/a", "b?x=1", status)
    site.redirect("/b", site.url("/c"), status)
    site.serve("/c", TEXT)
    assert (await fetch(site, "/a")).url == site.url("/c")
    assert site.paths() == ["/a", "/b?x=1", "/c"]


async def test_redirect_chains_and_loops_end(site: Site):
    for n in range(9):
        site.redirect(f"/{n}", f"/{n + 1}")
    site.redirect("/loop", "/loop")
    for path in ("/0", "/loop"):
        site.requests.clear()
        with pytest.raises(FetchFailed, match="more than 5 times"):
            await fetch(site, path)
        assert len(site.paths()) == 6


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/",
        "http://10.0.0.1/",
        "//192.168.0.1/",
        "http://[::1]/",
        "http://0x7f000001/",
        "http://[::ffff:10.0.0.1]/",
        "file:///etc/passwd",
        "http://private.example/",
        "http://user:pw@other.example/",
        "http://127.0.0.1:22/",
        "\\\\other.example/x",
        "http://a\tb/",
    ],
)
async def test_a_redirect_to_what_is_refused_ends_there(site: Site, location: str):
    site.redirect("/a", location)
    names = Names({"private.example": [["10.0.0.1"]], "other.example": [[LOOPBACK]]})
    with pytest.raises(FetchRefused):
        await fetch(site, "/a", names)
    assert site.paths() == ["/a"]


async def test_a_redirect_without_a_place_is_no_page(site: Site):
    site.serve("/a", status=302)
    with pytest.raises(FetchFailed, match="answers 302"):
        await fetch(site, "/a")


async def test_each_hop_asks_its_own_robots(site: Site):
    site.serve("/robots.txt", "User-agent: *\nDisallow: /b", content_type="text/plain")
    site.redirect("/a", "/b")
    site.serve("/b", TEXT)
    with pytest.raises(FetchRefused, match="robots"):
        await fetch(site, "/a")
    assert site.paths() == ["/a"]


async def test_credentials_and_cookies_stay_where_they_belong(site: Site):
    async with Site() as other:
        names = Names({"a.example": [[LOOPBACK]], "b.example": [[LOOPBACK]]})
        chosen = settings(site, reach={"ports": [site.port, other.port]})
        site.redirect("/same", site.url("/cross", "a.example"))
        site.serve("/cross", status=302, location=other.url("/end", "b.example"), set_cookie="id=1; Path=/")
        other.redirect("/end", site.url("/back", "a.example"))
        site.serve("/back", TEXT, set_cookie="id=2")
        tools = web(chosen, names)
        # The client is the one that carries the keys of search engines.
        client = tools.fetcher._client
        for _ in range(2):
            answer = await client.get(
                site.url("/same", "a.example"),
                accept="*/*",
                limit=10_000,
                headers={"authorization": "secret"},
            )
            assert answer.status == 200
        sent = {r.path: r.headers for r in (*site.requests, *other.requests)}
        assert [path for path, headers in sent.items() if "authorization" in headers] == ["/same", "/cross"]
        assert {"/end", "/back"} < sent.keys()
        assert not any("cookie" in r.headers for r in (*site.requests, *other.requests))


# --- sizes --------------------------------------------------------------------------------------------------


async def test_ten_megabytes_are_cut_at_the_limit(site: Site):
    site.serve("/big", b"<html>" + b"word " * 2_000_000)
    page = await fetch(site, "/big", fetch={"page_bytes": 300_000})
    assert page.truncated
    assert len(page.content) == 300_000


async def test_a_body_without_end_ends(site: Site):
    sent = 0

    @site.route("/endless")
    async def endless(request: Request, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        start(writer, **{"content-type": "text/html"})
        while True:
            writer.write(b"<p>more</p>" * 1000)
            await writer.drain()
            sent += 11_000

    page = await fetch(site, "/endless", fetch={"page_bytes": 100_000})
    assert page.truncated
    assert len(page.content) == 100_000
    assert sent < 20_000_000


@pytest.mark.parametrize("members", [1, 50])
async def test_a_bomb_is_defused_in_bounded_memory(site: Site, members: int):
    bomb = b"".join(gzip.compress(b"0" * (200_000_000 // members)) for _ in range(members))
    assert len(bomb) < 1_000_000
    site.serve("/bomb", bomb, content_encoding="gzip")
    tracemalloc.start()
    try:
        page = await fetch(site, "/bomb")
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
    assert page.truncated
    assert len(page.content) == 2_000_000


async def test_compressed_bodies_are_unpacked(site: Site):
    site.serve("/one", gzip.compress(TEXT.encode()), content_encoding="gzip")
    site.serve(
        "/two",
        gzip.compress(TEXT[:50].encode()) + gzip.compress(TEXT[50:].encode()),
        content_encoding="x-gzip",
    )
    site.serve("/zlib", zlib.compress(TEXT.encode()), content_encoding="deflate")
    for path in ("/one", "/two", "/zlib"):
        assert (await fetch(site, path)).content == TEXT.encode()


async def test_a_compressed_body_that_ends_early_is_flagged(site: Site):
    packed = gzip.compress("".join(f"line {n * 7919}\n" for n in range(9000)).encode())
    site.serve("/half", packed[: len(packed) // 2], content_encoding="gzip")
    page = await fetch(site, "/half")
    assert page.truncated
    assert page.content.startswith(b"line 0")
    site.serve("/nothing", b"", content_encoding="gzip")
    assert not (await fetch(site, "/nothing")).truncated


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
async def test_an_encoding_nobody_asked_for_is_a_failure(site: Site, encoding: str):
    site.serve("/a", gzip.compress(TEXT.encode()), content_encoding=encoding)
    with pytest.raises(FetchFailed, match="not asked for"):
        await fetch(site, "/a")


async def test_a_damaged_body_is_a_failure(site: Site):
    site.serve("/a", b"\x1f\x8b\x08\x00 no gzip at all", content_encoding="gzip")
    with pytest.raises(FetchFailed, match="damaged"):
        await fetch(site, "/a")


async def test_headers_are_bounded(site: Site):
    @site.route("/headers")
    async def headers(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for n in range(100_000):
            writer.write(f"x-{n}: {'y' * 100}\r\n".encode())
            await writer.drain()

    with pytest.raises(FetchFailed, match="RemoteProtocolError"):
        await fetch(site, "/headers", fetch={"attempts": 1})


async def test_no_http_at_all(site: Site):
    @site.route("/a")
    async def nonsense(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")

    with pytest.raises(FetchFailed):
        await fetch(site, "/a", fetch={"attempts": 1})


# --- times --------------------------------------------------------------------------------------------------


async def test_a_slow_drip_meets_the_deadline(site: Site):
    @site.route("/drip")
    async def drip(request: Request, writer: asyncio.StreamWriter) -> None:
        start(writer, **{"content-type": "text/html"})
        while True:
            writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.05)

    began = time.monotonic()
    with pytest.raises(FetchFailed, match=r"took longer than 0\.5 s"):
        await fetch(site, "/drip", fetch={"seconds": 0.5})
    assert time.monotonic() - began < 5


async def test_endless_interim_answers_meet_the_deadline(site: Site):
    @site.route("/hints")
    async def hints(request: Request, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            await writer.drain()
            await asyncio.sleep(0.01)

    with pytest.raises(FetchFailed, match="took longer"):
        await fetch(site, "/hints", fetch={"seconds": 0.5})


async def test_silence_is_a_read_timeout_and_tried_again(site: Site):
    @site.route("/silent")
    async def silent(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    with pytest.raises(FetchFailed, match="ReadTimeout"):
        await fetch(site, "/silent", fetch={"read_seconds": 0.2, "attempts": 2})
    assert site.paths() == ["/silent"] * 2


async def test_a_port_nobody_listens_on(site: Site):
    async with Site() as gone:
        url = gone.url("/a")
        port = gone.port
    tools = web(settings(site, reach={"ports": [port]}, fetch={"attempts": 2}))
    with pytest.raises(FetchRefused, match=r"robots\.txt cannot be read"):
        await tools.fetcher.fetch(url)


# --- retries ------------------------------------------------------------------------------------------------


def busy(site: Site, path: str, times: int, status: int, **headers: str) -> None:
    left = times

    @site.route(path)
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        nonlocal left
        left -= 1
        if left >= 0:
            start(writer, status, **{"content-length": "0", **headers})
        else:
            start(writer, **{"content-type": "text/html"})
            writer.write(TEXT.encode())


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_busy_host_is_asked_again(site: Site, status: int):
    busy(site, "/a", 2, status)
    assert (await fetch(site, "/a")).kind == "html"
    assert site.paths() == ["/a"] * 3


async def test_retry_after_is_waited_for(site: Site):
    busy(site, "/a", 1, 429, **{"Retry-After": "1"})
    began = time.monotonic()
    await fetch(site, "/a")
    assert time.monotonic() - began >= 1
    dates = {"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2015 07:28:01 GMT"}
    busy(site, "/b", 1, 503, **dates)
    began = time.monotonic()
    await fetch(site, "/b")
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize("value", ["3600", "9" * 400, "Wed, 21 Oct 2065 07:28:00 GMT"])
async def test_who_asks_for_too_long_a_wait_is_left_alone(site: Site, value: str):
    busy(site, "/a", 1, 429, **{"Retry-After": value, "Date": "Wed, 21 Oct 2015 07:28:00 GMT"})
    began = time.monotonic()
    with pytest.raises(FetchFailed, match="answers 429"):
        await fetch(site, "/a")
    assert time.monotonic() - began < 5
    assert site.paths() == ["/a"]


async def test_nonsense_in_retry_after_does_no_harm(site: Site):
    busy(site, "/a", 1, 429, **{"Retry-After": "soon", "Date": "now"})
    assert (await fetch(site, "/a")).kind == "html"


async def test_it_ends_with_the_attempts_and_errors_are_not_tried_again(site: Site):
    busy(site, "/a", 99, 503)
    with pytest.raises(FetchFailed, match="answers 503"):
        await fetch(site, "/a")
    assert site.paths() == ["/a"] * 3
    site.requests.clear()
    for status in (400, 401, 403, 404, 410, 500):
        site.serve("/e", TEXT, status)
        with pytest.raises(FetchFailed, match=f"answers {status}"):
            await fetch(site, "/e")
    assert site.paths() == ["/e"] * 6


# --- cache --------------------------------------------------------------------------------------------------


def cached(site: Site) -> WebSettings:
    return settings(site, fetch={"cache_bytes": 10_000_000})


async def test_fresh_pages_come_from_the_disk_and_stale_ones_are_asked_about(site: Site, tmp_path: Path):
    @site.route("/tagged")
    async def tagged(request: Request, writer: asyncio.StreamWriter) -> None:
        headers = {"etag": '"1"', "cache-control": "max-age=0", "content-type": "text/html"}
        if request.headers.get("if-none-match") == '"1"':
            start(writer, 304, **headers)
        else:
            start(writer, **headers, **{"content-length": str(len(TEXT))})
            writer.write(TEXT.encode())

    site.serve("/fresh", gzip.compress(TEXT.encode()), content_encoding="gzip", cache_control="max-age=600")
    site.serve("/private", TEXT, cache_control="no-store")
    # Another process on the same disk each time.
    for _ in range(2):
        tools = web(cached(site), cache=tmp_path / "web")
        for path in ("/tagged", "/fresh", "/private"):
            page = await tools.fetcher.fetch(site.url(path))
            assert page.content == TEXT.encode()
    assert site.paths() == ["/tagged", "/fresh", "/private", "/tagged", "/private"]
    assert "if-none-match" in site.requests[-2].headers


async def test_a_page_that_was_cut_is_not_cached(site: Site, tmp_path: Path):
    site.serve("/big", b"<html>" + b"word " * 100_000, cache_control="max-age=600")
    chosen = settings(site, fetch={"cache_bytes": 10_000_000, "page_bytes": 10_000})
    tools = web(chosen, cache=tmp_path)
    for _ in range(2):
        assert (await tools.fetcher.fetch(site.url("/big"))).truncated
    assert site.paths() == ["/big"] * 2


async def test_what_one_reach_has_seen_another_does_not_get_from_the_disk(site: Site, tmp_path: Path):
    site.serve("/a", TEXT, cache_control="max-age=600")
    site.serve("/robots.txt", "", cache_control="max-age=600")
    names = Names({"wiki.example": [[LOOPBACK]]})
    url = site.url("/a", "wiki.example")
    await web(cached(site), names, tmp_path).fetcher.fetch(url)
    closed = settings(site, reach={"networks": []}, fetch={"cache_bytes": 10_000_000})
    # Not the first line of defence, which is robots.txt: it is asked anew and is not reached.
    tools = web(closed, names, tmp_path)
    with pytest.raises(FetchRefused):
        await tools.fetcher._client.get(url, accept="*/*", limit=10_000)
    assert site.paths() == ["/a"]


async def test_side_by_side_over_one_cache(site: Site, tmp_path: Path):
    for n in range(20):
        site.serve(f"/{n}", TEXT, cache_control="max-age=600")
    tools = web(cached(site), cache=tmp_path)
    urls = [site.url(f"/{n}") for n in range(20)]
    for _ in range(2):
        pages = await asyncio.gather(*(tools.fetcher.fetch(url) for url in urls))
        assert [page.url for page in pages] == urls
    assert len(site.paths()) == 20


def test_many_event_loops_one_after_the_other(tmp_path: Path):
    async def once() -> None:
        async with Site() as site:
            site.serve("/a", TEXT)
            tools = web(cached(site), cache=tmp_path)
            await tools.fetcher.fetch(site.url("/a"))

    for _ in range(2):
        asyncio.run(once())
