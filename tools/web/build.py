"""From WebSettings to a search, a fetcher and an extractor that many runs share."""

import hashlib
from pathlib import Path

import httpx

from ..errors import FetchRefused, SettingsError
from ..protocols import WebSearch
from .address import AddressPolicy
from .client import WebClient, trust
from .extract import PageReader
from .fetch import WebFetcher
from .keys import key_headers
from .listed import ListedPages
from .pace import Pace, PacedTransport
from .pinning import PinnedBackend, PinnedTransport, Resolver, SystemResolver
from .robots import Robots
from .search import Endpoint, JSONSearch
from .settings import WebSettings
from .toolbox import WebTools
from .urls import parse_url, port_of


def build_web(settings: WebSettings, cache: Path, resolver: Resolver | None = None) -> WebTools:
    """The tools that the settings describe; `cache` is the folder of the HTTP cache.

    Raises SettingsError if the engine's key is not in the environment, or its URL is none.
    """
    fetch = settings.fetch
    tls = trust(settings.reach.ca_file)
    resolver = resolver or SystemResolver()

    def client(policy: AddressPolicy, pace: Pace, cache: Path | None) -> WebClient:
        pinned = PinnedTransport(PinnedBackend(policy, resolver), tls)
        return WebClient(PacedTransport(pinned, pace), policy, fetch, cache)

    # What was reached under other settings is not seen under these, so each reach has a cache of its own.
    reach = hashlib.sha256(settings.reach.model_dump_json().encode()).hexdigest()[:16]
    policy = settings.reach.policy()
    pace = Pace(fetch.interval_seconds, fetch.seconds)
    pages = client(policy, pace, cache / f"http-{reach}.db")
    robots = Robots(pages, pace, fetch.user_agent)
    search: WebSearch
    if settings.search.engine == "urls":
        search = ListedPages(pages, settings.search.urls, robots.admit)
    else:
        endpoint = Endpoint.of(settings.search)
        # The engine is the operator's choice and may stand on this very machine; that opens it to searches,
        # not to pages. Nothing of it goes to the disk: requests carry the key.
        engine = client(policy.opened(*_place(endpoint.url)), Pace(0.0, fetch.seconds), None)
        chosen = settings.search
        key = key_headers("web.search.key_variable", chosen.key_variable, chosen.key_header)
        search = JSONSearch(engine, endpoint, key)
    return WebTools(search, WebFetcher(pages, robots, fetch.page_bytes), PageReader(settings.extract))


def _place(url: str) -> tuple[str, int]:
    asked = url.replace("{query}", "q").replace("{k}", "1")
    try:
        port = port_of(httpx.URL(asked)) or 0
        return parse_url(asked, frozenset((port,))).raw_host.decode("ascii"), port
    except (httpx.InvalidURL, FetchRefused) as error:
        raise SettingsError(f"web.search.url = {url!r}: give the whole URL of the engine: {error}") from error
