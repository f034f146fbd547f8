"""What a miss fetches from the web, over a site on loopback."""

import time
from collections.abc import AsyncIterator, Iterator

import pytest
from sufficit.controller.cache.fetching import Need, WebFetch
from sufficit.controller.cache.shelf import Shelf
from sufficit.controller.web import Keeper
from sufficit.tools.errors import ToolError
from sufficit.tools.types import Hit
from sufficit.tools.web.extract import PageReader
from sufficit.tools.web.settings import ExtractSettings
from sufficit.tools.web.toolbox import WebTools
from website import Site, article, settings, web

RHINE = "The Rhine rises in the Alps and flows to the North Sea. " * 4
NEED = Need("Where does the Rhine rise?", "a")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as served:
        served.serve("/rhine", article(RHINE, title="The Rhine"))
        yield served


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    pages = PageReader(ExtractSettings())
    yield pages
    pages.close()


@pytest.fixture
def shelf(tmp_path) -> Shelf:
    return Shelf(tmp_path / "shelf", "a", time.time)


class Found:
    def __init__(self, *urls: str) -> None:
        self.urls = urls

    async def search(self, query: str, k: int) -> list[Hit]:
        if not self.urls:
            raise ToolError("engine gone")
        return [Hit(url) for url in self.urls]


def from_web(site: Site, reader: PageReader, *urls: str) -> WebFetch:
    chosen = settings(site)
    return WebFetch(WebTools(Found(*urls), web(chosen).fetcher, reader), chosen)


async def test_pages_are_kept_whole_with_their_address_and_expiry(site, reader, shelf):
    fetched = await from_web(site, reader, site.url("/rhine")).fetch(NEED, Keeper(shelf, 60))
    assert (fetched.passages, fetched.faults) == (1, ())
    (held,) = await shelf.search(NEED.question, 5)
    assert (held.url, held.source) == (site.url("/rhine"), f"web:{site.url('/rhine')}")
    assert held.metadata["expires"] - held.metadata["fetched"] == 60


async def test_addresses_inside_are_refused_as_the_fetcher_refuses_them(site, reader, shelf):
    fetch = from_web(site, reader, "http://10.0.0.1/secret", "http://169.254.169.254/latest/meta-data")
    fetched = await fetch.fetch(NEED, Keeper(shelf, 60))
    assert fetched.passages == 0
    assert len(fetched.faults) == 2
    assert all("FetchRefused" in fault for fault in fetched.faults)
    assert not shelf.exists


async def test_a_search_that_fails_is_a_fault_of_the_fetch(site, reader, shelf):
    fetched = await from_web(site, reader).fetch(NEED, Keeper(shelf, 60))
    assert fetched.faults == ("the search failed: engine gone",)
