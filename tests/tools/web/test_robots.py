import asyncio
import time

import pytest
from sufficit.tools.errors import FetchFailed, FetchRefused
from website import LOOPBACK, Names, Request, Site, article, settings, start, web

TEXT = article("word " * 50)
ANY = "User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.cgi$\n"
US = "User-agent: sufficit\nDisallow: /ours\n\nUser-agent: *\nDisallow: /\n"


async def allowed(site: Site, *paths: str, **fetch: object) -> list[bool]:
    tools = web(settings(site, fetch=fetch))
    verdicts = []
    for path in paths:
        site.serve(path.partition("?")[0], TEXT)
        try:
            await tools.fetcher.fetch(site.url(path))
            verdicts.append(True)
        except FetchRefused as refused:
            verdicts.append("robots.txt" not in str(refused))
    return verdicts


async def test_rules_of_rfc_9309(site: Site):
    site.serve("/robots.txt", ANY, content_type="text/plain")
    paths = ("/", "/private", "/private/x", "/private/open/x", "/a.cgi", "/a.cgi?x", "/privat")
    assert await allowed(site, *paths) == [True, False, False, True, False, True, True]
    assert site.paths(but_robots=False).count("/robots.txt") == 1


async def test_the_group_of_our_name_goes_before_the_general_one(site: Site):
    site.serve("/robots.txt", "\ufeff" + US, content_type="text/plain")
    assert await allowed(site, "/", "/ours") == [True, False]
    assert await allowed(site, "/", user_agent="Other/1.0") == [False]


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (200, True),
        (404, True),
        (401, True),
        (403, True),
        (410, True),
        (500, False),
        (503, False),
        (429, False),
    ],
)
async def test_what_an_answer_without_rules_means(site: Site, status: int, verdict: bool):
    site.serve("/robots.txt", "", status)
    assert await allowed(site, "/") == [verdict]


async def test_redirected_rules(site: Site):
    site.redirect("/robots.txt", "/moved.txt")
    site.serve("/moved.txt", "User-agent: *\nDisallow: /", content_type="text/plain")
    assert await allowed(site, "/") == [False]
    site.redirect("/robots.txt", "http://10.0.0.1/robots.txt")  # refused as robots.txt that cannot be read
    assert await allowed(site, "/") == [False]


async def test_an_address_that_is_refused_is_not_put_on_robots():
    tools = web(settings(), Names({"in.example": [[LOOPBACK]]}))
    with pytest.raises(FetchRefused) as refused:
        await tools.fetcher.fetch("http://in.example/a")
    message = str(refused.value)
    assert message.startswith(
        "http://in.example/a is not fetched: in.example has the address 127.0.0.1 (loopback)"
    )
    assert "web.reach.networks" in message
    assert "robots" not in message


async def test_a_site_that_does_not_answer_is_left_alone(site: Site):
    @site.route("/robots.txt")
    async def silent(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    assert await allowed(site, "/", read_seconds=0.2, attempts=1) == [False]
    assert site.paths() == []


async def test_only_the_first_half_megabyte_counts(site: Site):
    rules = "User-agent: *\nDisallow: /early\n" + "# padding\n" * 60_000 + "Disallow: /late\n"
    site.serve("/robots.txt", rules, content_type="text/plain")
    assert await allowed(site, "/early", "/late") == [False, True]


async def test_hostile_rules_cost_little(site: Site):
    patterns = "".join(f"Disallow: /{'*a' * 50}b{n}$\n" for n in range(4000))
    site.serve("/robots.txt", "User-agent: *\n" + patterns, content_type="text/plain")
    began = time.monotonic()
    assert await allowed(site, "/" + "a" * 3000) == [True]
    assert time.monotonic() - began < 8


async def test_binary_rules_are_no_rules(site: Site):
    site.serve("/robots.txt", bytes(range(256)) * 100, content_type="image/png")
    assert await allowed(site, "/") == [True]


async def test_rules_are_asked_for_once_by_many_pages(site: Site):
    for n in range(8):
        site.serve(f"/{n}", TEXT)
    tools = web(settings(site))
    await asyncio.gather(*(tools.fetcher.fetch(site.url(f"/{n}")) for n in range(8)))
    assert site.paths(but_robots=False).count("/robots.txt") == 1


async def test_crawl_delay_parts_requests(site: Site):
    times: list[float] = []

    @site.route("/a")
    async def page(request: Request, writer: asyncio.StreamWriter) -> None:
        times.append(time.monotonic())
        start(writer, **{"content-type": "text/html"})
        writer.write(TEXT.encode())

    site.serve("/robots.txt", "User-agent: *\nCrawl-delay: 0.4", content_type="text/plain")
    tools = web(settings(site), Names({"other.example": [[LOOPBACK]]}))
    await asyncio.gather(*(tools.fetcher.fetch(site.url("/a")) for _ in range(3)))
    assert times[1] - times[0] > 0.35
    assert times[2] - times[1] > 0.35


async def test_a_crawl_delay_beyond_all_patience_is_obeyed_by_giving_up(site: Site):
    site.serve("/robots.txt", "User-agent: *\nCrawl-delay: 86400", content_type="text/plain")
    site.serve("/a", TEXT)
    tools = web(settings(site))
    await tools.fetcher.fetch(site.url("/a"))
    with pytest.raises(FetchFailed, match="may not be asked again for 86"):
        await tools.fetcher.fetch(site.url("/a"))
