"""robots.txt by RFC 9309: what a site asks us to leave alone, and how slowly to go.

No file (4xx) allows everything; a site that cannot answer (5xx, no connection), or that is too busy (429),
disallows everything for a while. Rules are kept for a day, at most 500 kB of them are read.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

import httpx
from protego import Protego

from ..errors import AddressRefused, FetchRefused, ToolError
from .client import WebClient
from .pace import Pace
from .urls import origin

_BYTES: Final = 512_000
_KEPT: Final = 86_400.0  # seconds; RFC 9309 2.4
_KEPT_UNREACHABLE: Final = 300.0
_SITES: Final = 1_000
_ALL = "User-agent: *\nDisallow:"
_NOTHING = "User-agent: *\nDisallow: /"

Origin = tuple[str, str, int | None]


class _Rules(NamedTuple):
    parsed: Protego
    until: float
    because: str


class Robots:
    """Admits what robots.txt allows. Shared by all runs."""

    def __init__(
        self, client: WebClient, pace: Pace, user_agent: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._pace = pace
        self._product = user_agent.partition("/")[0]
        self._clock = clock
        self._rules: OrderedDict[Origin, _Rules] = OrderedDict()
        self._asking: dict[Origin, asyncio.Task[_Rules]] = {}

    async def admit(self, url: httpx.URL) -> None:
        """Raises FetchRefused if the site asks us to leave `url` alone, or cannot be asked."""
        site = origin(url)
        rules = self._rules.get(site)
        if rules is None or rules.until < self._clock():
            rules = await self._asked(site, url)
        if not rules.parsed.can_fetch(str(url), self._product):
            raise FetchRefused(f"{url} is not fetched: {rules.because}")

    async def _asked(self, site: Origin, url: httpx.URL) -> _Rules:
        """The site's rules, asked for once however many pages wait for them."""
        task = self._asking.get(site)
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            task = asyncio.create_task(self._ask(site, url))
            self._asking[site] = task
            task.add_done_callback(lambda _: self._asking.pop(site, None))
        return await asyncio.shield(task)

    async def _ask(self, site: Origin, url: httpx.URL) -> _Rules:
        text, kept, because = await self._read(url)
        parsed = Protego.parse(text)
        delay = parsed.crawl_delay(self._product)
        if delay:
            self._pace.slow_down(url.host, delay)
        rules = _Rules(parsed, self._clock() + kept, because)
        self._rules[site] = rules
        if len(self._rules) > _SITES:
            self._rules.popitem(last=False)
        return rules

    async def _read(self, url: httpx.URL) -> tuple[str, float, str]:
        """Rules, how long they hold, and what to say of a page they disallow."""
        address = str(url.copy_with(raw_path=b"/robots.txt"))
        # The disk may hold it longer than a day: it is asked whether it changed.
        fresh = {"cache-control": "no-cache"}
        try:
            answer = await self._client.get(
                address, accept="text/plain,*/*;q=0.1", limit=_BYTES, headers=fresh
            )
        except AddressRefused as error:
            own = error.host == url.host  # else robots.txt led elsewhere
            because = str(error) if own else f"its robots.txt cannot be read ({error})"
            return _NOTHING, _KEPT_UNREACHABLE, because
        except ToolError as error:
            return _NOTHING, _KEPT_UNREACHABLE, f"its robots.txt cannot be read ({error})"
        if answer.status == 429 or answer.status >= 500:
            return _NOTHING, _KEPT_UNREACHABLE, f"its robots.txt answers {answer.status}"
        if answer.status >= 300:
            return _ALL, _KEPT, ""
        text = answer.body.content.decode("utf-8", "replace").removeprefix("\ufeff")
        # A rule that was cut in two would forbid or allow what it was not meant for.
        whole = text.rpartition("\n")[0] if answer.body.truncated else text
        return whole, _KEPT, "robots.txt asks us to leave it alone"
