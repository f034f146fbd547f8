"""GET over the web: every hop judged, every size and time bounded, nothing remembered but the cache."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final

import httpcore
import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, retry_if_result
from tenacity.wait import wait_random_exponential

from ..errors import FetchFailed, SettingsError
from .address import AddressPolicy
from .bodies import ENCODINGS, Body, read_body
from .caching import cached
from .settings import FetchSettings
from .urls import origin, parse_url, redirected

Admit = Callable[[httpx.URL], Awaitable[None]]
"""Asked before every hop; raises FetchRefused to stop there."""

_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_BUSY: Final = frozenset((429, 502, 503, 504))
_FAULTS: Final = (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError)


@dataclass(frozen=True, slots=True)
class Answer:
    """The last hop's answer, whatever its status."""

    url: httpx.URL
    status: int
    headers: httpx.Headers
    body: Body


class WebClient:
    """Fetches URLs over a transport that keeps to `policy`, whose ports it checks beforehand.

    `cache` is the file of the HTTP cache, None for none. Holds no connection and no state of an event loop.
    """

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport,
        policy: AddressPolicy,
        settings: FetchSettings,
        cache: Path | None,
    ) -> None:
        self._transport = transport
        self._policy = policy
        self._settings = settings
        self._cache = cache if settings.cache_bytes else None

    async def get(
        self,
        url: str,
        *,
        accept: str,
        limit: int,
        headers: Mapping[str, str] | None = None,
        admit: Admit | None = None,
    ) -> Answer:
        """GET with retries and redirects, within `fetch.seconds` in all.

        At most `limit` bytes of the body are read. `headers` may carry credentials: they go to the URL's own
        origin only. Raises FetchRefused and FetchFailed; an error status is an answer.
        """
        first = parse_url(url, self._policy.ports)
        sent = {"accept": accept, "accept-encoding": ENCODINGS, "user-agent": self._settings.user_agent}
        try:
            async with asyncio.timeout(self._settings.seconds), self._opened() as transport:
                hops = _Hops(transport, self._settings, self._policy.ports, sent, headers or {}, admit)
                return await hops.follow(first, limit)
        except TimeoutError as error:
            raise FetchFailed(f"{first} took longer than {self._settings.seconds:g} s") from error

    def _opened(self) -> AbstractAsyncContextManager[httpx.AsyncBaseTransport]:
        """The transport, over the HTTP cache where there is one."""
        if self._cache is None:
            return nullcontext(self._transport)
        return cached(self._transport, self._cache, self._settings.page_bytes, self._settings.cache_bytes)


@dataclass(frozen=True, slots=True)
class _Hops:
    """One request on its way through redirects and retries."""

    transport: httpx.AsyncBaseTransport
    settings: FetchSettings
    ports: frozenset[int]
    headers: Mapping[str, str]
    private: Mapping[str, str]
    admit: Admit | None

    async def follow(self, url: httpx.URL, limit: int) -> Answer:
        first, private = url, self.private
        for _ in range(self.settings.redirects + 1):
            if self.admit is not None:
                await self.admit(url)
            if origin(url) != origin(first):
                # They stay behind for good: where a stranger leads back to, he chose.
                private = {}
            answer = await self._patiently(url, {**self.headers, **private}, limit)
            location = answer.headers.get("location")
            if answer.status not in _REDIRECTS or location is None:
                return answer
            url = redirected(url, location, self.ports)
        raise FetchFailed(f"{first} redirects more than {self.settings.redirects} times")

    async def _patiently(self, url: httpx.URL, headers: Mapping[str, str], limit: int) -> Answer:
        """Again after a failure in passing; the last failure or answer stands."""
        backoff = wait_random_exponential(multiplier=self.settings.backoff_seconds, max=8)

        def wait(state: RetryCallState) -> float:
            return max(backoff(state), _retry_after(state) or 0.0)

        def stop(state: RetryCallState) -> bool:
            too_long = (_retry_after(state) or 0.0) >= self.settings.seconds
            return too_long or state.attempt_number >= self.settings.attempts

        retrying = AsyncRetrying(
            stop=stop,
            wait=wait,
            retry=retry_if_exception_type(_Passing) | retry_if_result(_is_busy),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )
        try:
            answer: Answer = await retrying(self._once, url, headers, limit)
        except _Passing as error:
            raise FetchFailed(str(error)) from error
        return answer

    async def _once(self, url: httpx.URL, headers: Mapping[str, str], limit: int) -> Answer:
        seconds = {"connect": self.settings.connect_seconds, "read": self.settings.read_seconds}
        timeout = {**seconds, "write": self.settings.read_seconds}
        request = httpx.Request("GET", url, headers=dict(headers), extensions={"timeout": timeout})
        try:
            response = await self.transport.handle_async_request(request)
            try:
                body = await read_body(response, limit)
            finally:
                await response.aclose()
        except _FAULTS as error:
            if isinstance(error.__cause__ or error.__context__, ssl.SSLCertVerificationError):
                raise FetchFailed(
                    f"{url}: the certificate does not hold: {error}; one of your own: web.reach.ca_file"
                ) from error
            raise _Passing(f"{url}: {type(error).__name__}: {error or 'no answer'}") from error
        return Answer(url, response.status_code, response.headers, body)


class _Passing(FetchFailed):
    """A failure that another try may not meet."""


def _is_busy(answer: Answer) -> bool:
    return answer.status in _BUSY


def _retry_after(state: RetryCallState) -> float | None:
    """Seconds that a busy host asks to wait, None where it does not say."""
    if state.outcome is None or state.outcome.failed:
        return None
    answer: Answer = state.outcome.result()
    value = answer.headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value[:9])
    try:
        then = parsedate_to_datetime(value)
        return max(0.0, then.timestamp() - parsedate_to_datetime(answer.headers["date"]).timestamp())
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def trust(ca_file: Path | None) -> ssl.SSLContext:
    """A TLS context that verifies names and certificates: the public authorities, and those of `ca_file`.

    Raises SettingsError if the file cannot be read.
    """
    context = httpx.create_ssl_context(trust_env=False)
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except (OSError, ssl.SSLError) as error:
            raise SettingsError(f"web.reach.ca_file {ca_file} holds no certificates: {error}") from error
    return context
