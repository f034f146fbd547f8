"""Finding pages: any engine that answers GET with JSON, and lists of pages without an engine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote_plus

from ..errors import FetchFailed
from ..types import Hit
from .client import WebClient
from .settings import JSONFields, SearchSettings

BRAVE: Final = "https://api.search.brave.com/res/v1/web/search"
_BRAVE_MOST: Final = 20  # results that the Brave Search API gives at most; it refuses to be asked for more
_BYTES: Final = 2_000_000  # of an answer
_TEXT: Final = 2_000  # characters of a title or snippet
_QUERY: Final = 1_000  # characters of a query


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How an engine is asked, `url` with the places {query} and {k}, and where its answer holds what.

    `most` is the largest {k} that it takes, None if it takes any.
    """

    url: str
    fields: JSONFields
    most: int | None = None

    @classmethod
    def of(cls, settings: SearchSettings) -> "Endpoint":
        """The endpoint that the settings describe."""
        if settings.engine == "searxng":
            fields = JSONFields(results="results", url="url", title="title", snippet="content")
            return cls(f"{settings.url.rstrip('/')}/search?q={{query}}&format=json", fields)
        if settings.engine == "brave":
            fields = JSONFields(results="web.results", url="url", title="title", snippet="description")
            return cls(f"{settings.url or BRAVE}?q={{query}}&count={{k}}", fields, _BRAVE_MOST)
        return cls(settings.url, settings.fields)


class JSONSearch:
    """A WebSearch over HTTP and JSON. `headers` may carry the engine's key."""

    def __init__(self, client: WebClient, endpoint: Endpoint, headers: Mapping[str, str]) -> None:
        self._client = client
        self._endpoint = endpoint
        self._headers = headers

    async def search(self, query: str, k: int) -> list[Hit]:
        """See WebSearch. Raises FetchFailed for an error status or an answer of another form."""
        most = k if self._endpoint.most is None else min(k, self._endpoint.most)
        url = self._endpoint.url.replace("{query}", quote_plus(query[:_QUERY])).replace("{k}", str(most))
        answer = await self._client.get(url, accept="application/json", limit=_BYTES, headers=self._headers)
        if answer.status != 200:
            raise FetchFailed(f"the search engine at {answer.url.host} answers {answer.status}")
        try:
            results = _at(json.loads(answer.body.content), self._endpoint.fields.results)
        except (ValueError, RecursionError) as error:
            raise FetchFailed(f"the search engine at {answer.url.host} does not answer in JSON") from error
        if not isinstance(results, list):
            raise FetchFailed(
                f"the answer of {answer.url.host} has no list at {self._endpoint.fields.results!r}; "
                "see web.search.fields"
            )
        hits: dict[str, Hit] = {}
        for result in results:
            hit = self._hit(result)
            if hit is not None:
                hits.setdefault(hit.url, hit)
        return list(hits.values())[:k]

    def _hit(self, result: Any) -> Hit | None:
        fields = self._endpoint.fields
        url, title, snippet = (_at(result, path) for path in (fields.url, fields.title, fields.snippet))
        if not isinstance(url, str) or not url:
            return None
        return Hit(url, _text(title), _text(snippet))


def _at(value: Any, path: str) -> Any:
    """What lies at a dotted path, None where there is nothing."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    return value[:_TEXT] if isinstance(value, str) else ""
