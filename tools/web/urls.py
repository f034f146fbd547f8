"""Reading a URL strictly: whatever a browser, a proxy or a resolver might read differently is refused.

httpx parses it, as httpx sends it, so that there are no two opinions on where the host ends.
"""

import re
from typing import Final
from urllib.parse import urljoin

import httpx

from ..errors import FetchRefused
from .address import plain_host

_LONGEST: Final = 4096
_PORTS: Final = {"http": 80, "https": 443}
_AUTHORITY_ENDS = re.compile(r"[/?#]")
# White space and control characters are dropped by some parsers, a backslash is a slash to others.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ufeff]")


def parse_url(text: str, ports: frozenset[int]) -> httpx.URL:
    """The URL without its fragment. Raises FetchRefused for all but plain http and https URLs.

    Refused are other schemes and ports, user names and passwords, addresses in other than canonical notation,
    and whatever is ambiguous.
    """
    text = text.strip(" \t\r\n")
    shown = repr(text[:100])
    if len(text) > _LONGEST or _AMBIGUOUS.search(text):
        raise FetchRefused(f"{shown} is no clean URL: too long, or with spaces, backslashes or controls")
    try:
        url = httpx.URL(text)
        _ = url.host  # an A-label that stands for no name is found out only here
    except (httpx.InvalidURL, ValueError) as error:
        raise FetchRefused(f"{shown} cannot be read as a URL: {error}") from error
    if url.scheme not in _PORTS:
        raise FetchRefused(f"{shown} is not fetched; only http and https are")
    if url.userinfo or "@" in _AUTHORITY_ENDS.split(text.partition("//")[2], maxsplit=1)[0]:
        raise FetchRefused(f"a URL of {url.host} carries a user name or password; it is not fetched")
    host = url.raw_host.decode("ascii")
    if not plain_host(host) or "%" in host:
        raise FetchRefused(f"{shown} names no host in plain notation")
    if port_of(url) not in ports:
        raise FetchRefused(f"{shown} asks for port {port_of(url)}; add it to web.reach.ports if it is meant")
    return url.copy_with(fragment=None)


def port_of(url: httpx.URL) -> int | None:
    """The port, also where the URL leaves it to the scheme; None for a scheme that is not fetched."""
    return _PORTS.get(url.scheme) if url.port is None else url.port


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port: what credentials, cookies and robots.txt belong to."""
    return url.scheme, url.host, port_of(url)


def redirected(url: httpx.URL, location: str, ports: frozenset[int]) -> httpx.URL:
    """Where a redirect leads. Raises FetchRefused as parse_url does, and for a step from https to http."""
    target = parse_url(urljoin(str(url), location.strip(" \t\r\n")), ports)
    if url.scheme == "https" and target.scheme == "http":
        raise FetchRefused(f"{url} redirects from https to http; that is not followed")
    return target
