"""The operator's own fetcher over HTTP.

It is asked by `POST` with `{"question": "...", "scope": "..."}` and answers 200 with

    {"passages": [{"text": "...", "title": "...", "source": "...", "url": "...", "id": "..."}],
     "keep_seconds": 3600}

where only each passage's `text` has to be there. `source` names the document it was cut from, by default its
`url`; a document takes the place of what was kept of it before. `keep_seconds` may shorten how long the
passages are kept, never lengthen it.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...tools.errors import RunError
from ...tools.types import Passage
from ...tools.web.keys import key_headers
from ..stages import PageVisit
from ..web import Keeper
from .fetching import Fetched, Need
from .settings import WebhookSettings

_NAME: Final = "webhook"
"""Stands where a page's URL stands: the real one may hold a key."""


class _Passage(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    text: str = Field(min_length=1, max_length=100_000)
    title: str = Field(default="", max_length=2000)
    source: str = Field(default="", max_length=4096)
    url: str | None = Field(default=None, max_length=4096)
    id: str = Field(default="", max_length=500)

    def passage(self) -> Passage:
        """As it is kept; its id is a hash of its text where it has none."""
        id_ = self.id or hashlib.sha256(self.text.encode()).hexdigest()[:16]
        return Passage(id_, self.text, self.title, self.source or self.url or id_, self.url)


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    passages: tuple[_Passage, ...]
    keep_seconds: float | None = Field(default=None, gt=0)


@dataclass(frozen=True, slots=True)
class Webhook:
    """Asks the webhook. The operator chose its address, so it may stand anywhere; it redirects nowhere."""

    settings: WebhookSettings
    headers: Mapping[str, str]

    @classmethod
    def of(cls, settings: WebhookSettings) -> "Webhook":
        """Raises SettingsError if the key is not in the environment, or no header can carry it."""
        name = "cache.webhook.key_variable"
        return cls(settings, key_headers(name, settings.key_variable, settings.key_header))

    async def fetch(self, need: Need, keeper: Keeper) -> Fetched:
        """See Fetch."""
        try:
            async with asyncio.timeout(self.settings.seconds):
                answer = _Answer.model_validate_json(await self._ask(need))
        except TimeoutError:
            return self._failed(f"no answer within {self.settings.seconds:g} s")
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            return self._failed(f"{type(error).__name__}: {error}")
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the body"
            return self._failed(f"answer: {place}: {first['msg']}")
        except _Refused as error:
            return self._failed(str(error))
        return await self._kept(answer, keeper)

    async def _ask(self, need: Need) -> bytes:
        asked = {"question": need.question, "scope": need.scope}
        headers = {"accept": "application/json", "accept-encoding": "identity", **self.headers}
        async with (
            httpx.AsyncClient(timeout=self.settings.seconds, trust_env=False) as client,
            client.stream("POST", self.settings.url, json=asked, headers=headers) as response,
        ):
            if response.status_code != 200:
                raise _Refused(f"the webhook answers {response.status_code}")
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > self.settings.answer_bytes:
                    raise _Refused(f"the answer is longer than {self.settings.answer_bytes:,} bytes")
        return bytes(body)

    async def _kept(self, answer: _Answer, keeper: Keeper) -> Fetched:
        if len(answer.passages) > self.settings.passages:
            return self._failed(f"the answer has more than {self.settings.passages} passages")
        if not answer.passages:
            return self._failed("the answer has no passage")
        # Passages of one document must follow each other.
        passages = sorted((given.passage() for given in answer.passages), key=lambda p: p.source)
        seconds = min(answer.keep_seconds or keeper.seconds, keeper.seconds)
        try:
            await replace(keeper, seconds=seconds).keep(passages)
        except RunError as error:
            return self._failed(f"not kept: {error}")
        return Fetched((PageVisit(_NAME, len(passages)),))

    def _failed(self, why: str) -> Fetched:
        return Fetched((PageVisit(_NAME, 0, why),))


class _Refused(Exception):
    """An answer that is not taken."""
