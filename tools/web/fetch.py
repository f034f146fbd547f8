"""Pages of the web, fetched by the rules."""

from ..errors import FetchFailed, FetchRefused
from ..types import Page
from .client import WebClient
from .content import ACCEPT, media_type, page_kind
from .robots import Robots


class WebFetcher:
    """The Fetcher of the open web. Shared by all runs; a fetch leaves nothing open."""

    def __init__(self, client: WebClient, robots: Robots, page_bytes: int) -> None:
        self._client = client
        self._robots = robots
        self._page_bytes = page_bytes

    async def fetch(self, url: str) -> Page:
        """The page at `url`, at most `fetch.page_bytes` of it.

        Raises FetchRefused for an address, a robots.txt or a type of content that forbids it, FetchFailed for
        an error status, too many redirects, and whatever goes wrong on the way.
        """
        answer = await self._client.get(url, accept=ACCEPT, limit=self._page_bytes, admit=self._robots.admit)
        if answer.status != 200:
            raise FetchFailed(f"{answer.url} answers {answer.status}")
        header = answer.headers.get("content-type", "")
        kind = page_kind(header, answer.body.content)
        if kind == "pdf" and answer.body.truncated:
            raise FetchRefused(f"{answer.url} is a PDF of more than {self._page_bytes:,} bytes")
        return Page(str(answer.url), kind, answer.body.content, media_type(header)[1], answer.body.truncated)
