import gzip

import pytest
from sufficit.tools.errors import ToolError
from website import Site, settings, web

SITEMAP = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'


def sitemap(*urls: str) -> str:
    return SITEMAP.format(
        "".join(f"<url><loc> {url} </loc><lastmod>2024-01-01</lastmod></url>" for url in urls)
    )


def index(*urls: str) -> str:
    return (
        "<sitemapindex>" + "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls) + "</sitemapindex>"
    )


def listed(site: Site, *urls: str):
    return web(settings(site, search={"engine": "urls", "urls": list(urls)})).search


async def test_pages_are_ranked_by_the_words_of_their_urls(site: Site):
    search = listed(
        site, "http://a.example/rivers/the-rhine", "http://a.example/bread_and_salt", "http://a.example/"
    )
    assert (await search.search("Where does the Rhine rise?", 1))[0].url.endswith("the-rhine")
    assert (await search.search("salt", 1))[0].url.endswith("salt")
    # Without a word in common they come in the order of the list.
    assert [hit.url[16:] for hit in await search.search("zebra", 5)] == [
        "/rivers/the-rhine",
        "/bread_and_salt",
        "/",
    ]


async def test_sitemaps_are_read_once_nested_and_packed(site: Site):
    site.serve("/index.xml", index(site.url("/a.xml"), site.url("/b.xml.gz"), site.url("/index.xml")))
    site.serve("/a.xml", sitemap("http://x.example/a?b=1&amp;c=2", "<![CDATA[http://x.example/cd]]>"))
    packed = gzip.compress(sitemap("http://x.example/b", "http://x.example/cd").encode())
    site.serve("/b.xml.gz", packed, content_type="application/gzip")
    search = listed(site, site.url("/index.xml"), "http://x.example/own")
    for _ in range(2):
        urls = [hit.url for hit in await search.search("q", 9)]
        expected = ["own", "a?b=1&c=2", "cd", "b"]
        assert urls == [f"http://x.example/{end}" for end in expected]
    assert site.paths() == ["/index.xml", "/a.xml", "/b.xml.gz"]


async def test_a_sitemap_that_fails_is_tried_again_and_hides_no_page(site: Site):
    search = listed(site, site.url("/a.xml"))
    with pytest.raises(ToolError, match="answers 404"):
        await search.search("q", 3)
    site.serve("/a.xml", sitemap("http://x.example/a"))
    assert [hit.url for hit in await search.search("q", 3)] == ["http://x.example/a"]
    with_page = listed(site, site.url("/gone.xml"), "http://x.example/own")
    assert [hit.url for hit in await with_page.search("q", 3)] == ["http://x.example/own"]


async def test_sitemaps_are_bounded_and_expand_nothing(site: Site):
    for n in range(60):
        site.serve(f"/{n}.xml", index(site.url(f"/{n + 1}.xml")))
    assert await listed(site, site.url("/0.xml")).search("q", 3) == []
    assert len(site.paths()) == 20
    laughs = '<!DOCTYPE l [<!ENTITY a "http://x.example/"><!ENTITY b "&a;&a;&a;">]>'
    site.serve("/laughs.xml", laughs + sitemap("&b;", "file:///etc/passwd"))
    hits = await listed(site, site.url("/laughs.xml")).search("q", 3)
    assert [hit.url for hit in hits] == ["&b;", "file:///etc/passwd"]
    site.serve("/bomb.xml.gz", gzip.compress(b"0" * 100_000_000), content_type="application/gzip")
    assert await listed(site, site.url("/bomb.xml.gz")).search("q", 3) == []
    site.serve("/bad.xml.gz", b"\x1f\x8bnonsense", content_type="application/gzip")
    with pytest.raises(ToolError, match="damaged"):
        await listed(site, site.url("/bad.xml.gz")).search("q", 3)


async def test_robots_hold_for_sitemaps_too(site: Site):
    site.serve("/robots.txt", "User-agent: *\nDisallow: /a.xml", content_type="text/plain")
    with pytest.raises(ToolError, match="leave it alone"):
        await listed(site, site.url("/a.xml")).search("q", 3)
