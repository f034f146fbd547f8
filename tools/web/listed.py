"""Finding pages without an engine: in a list of URLs and sitemaps."""

import gzip
import html
import io
import re
from collections.abc import Iterable, Sequence
from typing import Final

from ..errors import FetchFailed, ToolError
from ..types import Hit
from .client import Admit, WebClient
from .ranking import relevance, words

_SITEMAP_BYTES: Final = 10_000_000
_SITEMAPS: Final = 20  # read for one list, those named by other sitemaps included
_URLS: Final = 50_000
# No XML parser: nothing but these elements matters, and nothing in them can be expanded.
_LOCATION = re.compile(rb"<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]{1,4096})\s*(?:\]\]>)?\s*</loc>", re.I)
_INDEX = re.compile(rb"<sitemapindex[\s>]", re.I)


class ListedPages:
    """A WebSearch over pages that are named one by one or by sitemaps, ranked by the words of their URLs.

    Sitemaps are read at the first search, and again at the next while one fails; `admit` holds them to
    robots.txt too.
    """

    def __init__(self, client: WebClient, urls: Sequence[str], admit: Admit) -> None:
        self._client = client
        self._urls = tuple(urls)
        self._admit = admit
        self._pages: tuple[str, ...] | None = None

    async def search(self, query: str, k: int) -> list[Hit]:
        """See WebSearch. Raises ToolError if none of the sitemaps could be read and no page is named."""
        pages = await self._read() if self._pages is None else self._pages
        scores = relevance(words(query), [words(_readable(url)) for url in pages])
        order = sorted(range(len(pages)), key=lambda place: -scores[place])
        return [Hit(pages[place]) for place in order[:k]]

    async def _read(self) -> tuple[str, ...]:
        pages = [url for url in self._urls if not _is_sitemap(url)]
        waiting = [url for url in self._urls if _is_sitemap(url)]
        asked: set[str] = set()
        failure: ToolError | None = None
        while waiting and len(asked) < _SITEMAPS and len(pages) < _URLS:
            url = waiting.pop(0)
            if url in asked:
                continue
            asked.add(url)
            try:
                locations, nested = await self._sitemap(url)
            except ToolError as error:
                failure = error
                continue
            (waiting if nested else pages).extend(locations)
        if not pages and failure is not None:
            raise failure
        found = tuple(dict.fromkeys(pages))[:_URLS]
        self._pages = found if failure is None else None
        return found

    async def _sitemap(self, url: str) -> tuple[list[str], bool]:
        """The locations of a sitemap, and whether they are sitemaps themselves."""
        answer = await self._client.get(
            url, accept="application/xml,text/xml", limit=_SITEMAP_BYTES, admit=self._admit
        )
        if answer.status != 200:
            raise FetchFailed(f"the sitemap {answer.url} answers {answer.status}")
        content = _unpacked(answer.body.content)
        found = (html.unescape(each[1].decode("utf-8", "replace")) for each in _LOCATION.finditer(content))
        return list(_first(found, _URLS)), _INDEX.search(content[:4096]) is not None


def _first(items: Iterable[str], most: int) -> Iterable[str]:
    return (item for _, item in zip(range(most), items, strict=False))


def _unpacked(content: bytes) -> bytes:
    """A .xml.gz as it was before, cut at the limit; anything else as it is."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.open(io.BytesIO(content)) as unpacked:
            return unpacked.read(_SITEMAP_BYTES)
    except (OSError, EOFError) as error:
        raise FetchFailed(f"the compressed sitemap is damaged: {error}") from error


def _is_sitemap(url: str) -> bool:
    return url.partition("?")[0].endswith((".xml", ".xml.gz"))


def _readable(url: str) -> str:
    """The words of a URL's path, as far as it has some."""
    return re.sub(r"[^\w]+|_", " ", url.partition("//")[2].partition("/")[2])
