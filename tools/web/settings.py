"""What of the web may be reached, how it is asked, and how long anything may take."""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, IPvAnyNetwork, field_validator, model_validator

from .address import AddressPolicy, literal, plain_host
from .keys import HEADER_NAME


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReachSettings(_Section):
    """What may be reached beyond public addresses on ports 80 and 443: an intranet, a test site."""

    networks: tuple[IPvAnyNetwork, ...] = Field(
        default=(), description="networks whose addresses any name may lead to, such as 10.1.0.0/16"
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="names that are reached wherever they lead to; never a name of the internet"
    )
    ports: tuple[int, ...] = (80, 443)
    ca_file: Path | None = Field(
        default=None, description="certificates in PEM that are trusted beside the public ones"
    )

    @field_validator("hosts")
    @classmethod
    def _plain(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_plain_host(host) for host in hosts)

    @field_validator("ports")
    @classmethod
    def _possible(cls, ports: tuple[int, ...]) -> tuple[int, ...]:
        for port in ports:
            if not 1 <= port <= 65_535:
                raise ValueError(f"{port} is no port: ports are 1 to 65535")
        return ports

    def policy(self) -> AddressPolicy:
        """These settings as the judge of addresses."""
        return AddressPolicy(tuple(self.networks), frozenset(self.hosts), frozenset(self.ports))


class FetchSettings(_Section):
    """How a page is fetched. Times in seconds, sizes in bytes."""

    user_agent: str = Field(
        default="Sufficit/0.1",
        pattern=r"^[A-Za-z_-]+(/[ -~]*)?$",
        description="product name, by which robots.txt knows us, then anything, such as an address",
    )
    seconds: float = Field(
        default=20.0, gt=0, le=600, description="for one page, waits and redirects included"
    )
    connect_seconds: float = Field(default=5.0, gt=0, le=600)
    read_seconds: float = Field(default=10.0, gt=0, le=600, description="between two pieces of an answer")
    attempts: int = Field(default=3, ge=1, le=10, description="tries of a request that fails in passing")
    backoff_seconds: float = Field(default=0.5, ge=0, le=60, description="wait before the second try")
    redirects: int = Field(default=5, ge=0, le=20)
    page_bytes: int = Field(
        default=2_000_000, ge=1, le=100_000_000, description="of a body, received and unpacked alike"
    )
    interval_seconds: float = Field(
        default=1.0, ge=0, le=3600, description="between two requests to one host"
    )
    at_once: int = Field(default=4, ge=1, le=64, description="pages fetched side by side")
    cache_bytes: int = Field(
        default=256_000_000, ge=0, description="size of the HTTP cache on disk; 0 for none"
    )


class ExtractSettings(_Section):
    """How a page is read."""

    page_bytes: int = Field(default=500_000, ge=1, le=10_000_000, description="what is read of an HTML page")
    seconds: float = Field(default=10.0, gt=0, le=600, description="for one page; then its reader is killed")
    processes: int = Field(default=1, ge=1, le=64, description="readers")
    pages_per_process: int = Field(default=200, ge=1, description="pages until a reader is replaced")


class JSONFields(_Section):
    """Where a search engine's answer holds what: dotted paths, the last three within one result."""

    results: str = "results"
    url: str = "url"
    title: str = "title"
    snippet: str = "snippet"


class SearchSettings(_Section):
    """Who is asked what to fetch.

    `searxng`: a SearXNG whose format `json` is enabled; `brave`: the Brave Search API or one like it; `json`:
    anything that answers GET with JSON; `urls`: the pages and sitemaps of `urls`, without any engine.
    """

    engine: Literal["searxng", "brave", "json", "urls"] | None = Field(
        default=None, description="searxng, brave, json or urls; none leaves the web alone"
    )
    url: str = Field(
        default="", description="the engine; for `json` with the places {query} and, if wanted, {k}"
    )
    key_variable: str = Field(default="", description="environment variable that holds the engine's key")
    key_header: str = Field(
        default="X-Subscription-Token", pattern=HEADER_NAME, description="header that carries the key"
    )
    fields: JSONFields = JSONFields()
    urls: tuple[str, ...] = Field(default=(), description="pages, and sitemaps (.xml, .xml.gz)")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.engine in ("searxng", "json") and not self.url:
            raise ValueError(f"engine {self.engine} needs web.search.url")
        if self.engine == "json" and "{query}" not in self.url:
            raise ValueError("engine json needs the place {query} in web.search.url")
        if self.engine == "urls" and not self.urls:
            raise ValueError("engine urls needs web.search.urls")
        return self


class WebSettings(_Section):
    """The web as a source of evidence; off until an engine is named."""

    search: SearchSettings = SearchSettings()
    reach: ReachSettings = ReachSettings()
    fetch: FetchSettings = FetchSettings()
    extract: ExtractSettings = ExtractSettings()
    pages_per_visit: int = Field(default=2, ge=1, le=100, description="pages fetched for one query")
    passages_per_visit: int = Field(default=8, ge=1, le=200, description="passages taken from these pages")
    keep_days: float = Field(
        default=0.0, ge=0, le=36_500, description="how long fetched passages stay in the index; 0: not at all"
    )

    @property
    def on(self) -> bool:
        """Whether the web is asked at all."""
        return self.search.engine is not None


def _plain_host(host: str) -> str:
    """A host as it is compared. Raises ValueError for what no URL's host could ever equal."""
    if "*" in host:
        raise ValueError(
            f"{host!r} has a wildcard; list each host by name, or their network in web.reach.networks"
        )
    if literal(host.strip("[]")) is not None and "[" in host:
        raise ValueError(f"{host!r}: write the address without brackets: {host.strip('[]')}")
    try:
        plain = host.lower().rstrip(".").encode("idna").decode("ascii") if ":" not in host else host.lower()
    except UnicodeError:
        plain = ""
    if not plain_host(plain):
        raise ValueError(
            f"{host!r} is no host: give a name or an address alone, such as intranet.example or 10.1.2.3; "
            "ports go into web.reach.ports"
        )
    address = literal(plain)
    return plain if address is None else str(address)
