"""Requests to a generator's server: bounded in time, number and tries; each failure names its request."""

import asyncio
import email.utils
import json
import logging
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from tenacity.wait import wait_random_exponential

from ..errors import GenerationFailed, SettingsError
from .looped import LoopThread
from .server import ServerSettings, api_key

_BUSY: Final = frozenset((429, 502, 503, 504))
_SHOWN: Final = 300

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reply:
    """A JSON object as the server sent it, and the id of its request."""

    body: Mapping[str, Any]
    request_id: str


class Refused(GenerationFailed):
    """The server answered with an error status that another try would not change."""

    def __init__(self, message: str, request_id: str, status: int) -> None:
        super().__init__(message, request_id)
        self.status = status


class _Passing(GenerationFailed):
    """A failure that another try may not meet; `wait` is what the server asked for, in seconds."""

    def __init__(self, message: str, request_id: str, wait: float = 0.0) -> None:
        super().__init__(message, request_id)
        self.wait = wait


class ServerClient:
    """One server's connections, kept open between requests, on a thread of their own.

    Raises SettingsError at construction where the API key is named and not there. The key stands in the
    connections' headers and nowhere else.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._key = key = api_key(settings)
        limits = httpx.Limits(
            max_connections=settings.concurrency, max_keepalive_connections=settings.concurrency
        )
        seconds = settings.read_seconds
        self._http = httpx.AsyncClient(
            base_url=settings.url,
            headers={"authorization": f"Bearer {key}"} if key else {},
            limits=limits,
            timeout=httpx.Timeout(seconds, connect=settings.connect_seconds, pool=None),
        )
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._thread = LoopThread("generator-http")

    @property
    def url(self) -> str:
        """The server's root."""
        return self._settings.url

    async def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Reply:
        """POST `body`, or GET where there is none.

        Raises GenerationFailed: Refused for an error status, else what the last try met.
        """
        return await self._thread.run(lambda: self._bounded(path, body))

    def ask_now(self, path: str, body: Mapping[str, Any] | None = None) -> Reply:
        """`ask` for a caller that is no coroutine."""
        return self._thread.wait(lambda: self._bounded(path, body))

    async def _bounded(self, path: str, body: Mapping[str, Any] | None) -> Reply:
        request_id = f"sufficit-{uuid.uuid4().hex[:16]}"
        async with self._slots:
            try:
                async with asyncio.timeout(self._settings.total_seconds):
                    return await self._patiently(path, body, request_id)
            except TimeoutError as error:
                seconds = self._settings.total_seconds
                raise GenerationFailed(
                    f"{self.url}{path} took longer than generator.total_seconds = {seconds:g}", request_id
                ) from error

    async def _patiently(self, path: str, body: Mapping[str, Any] | None, request_id: str) -> Reply:
        settings = self._settings
        backoff = wait_random_exponential(multiplier=settings.backoff_seconds, max=30)

        def stop(state: RetryCallState) -> bool:
            return state.attempt_number >= settings.attempts or _asked(state) >= settings.total_seconds

        def note(state: RetryCallState) -> None:
            _log.warning("try %d of %d: %s", state.attempt_number, settings.attempts, _failure(state))

        retrying = AsyncRetrying(
            stop=stop,
            wait=lambda state: max(backoff(state), _asked(state)),
            retry=retry_if_exception_type(_Passing),
            before_sleep=note,
            reraise=True,
        )
        reply: Reply = await retrying(self._once, path, body, request_id)
        return reply

    async def _once(self, path: str, body: Mapping[str, Any] | None, request_id: str) -> Reply:
        method = "GET" if body is None else "POST"
        try:
            response = await self._http.request(method, path, json=body, headers={"x-request-id": request_id})
        except httpx.TransportError as error:
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise _Passing(f"{self.url}{path}: {self._safe(what)}", request_id) from error
        if response.status_code in _BUSY:
            raise _Passing(self._said(path, response), request_id, _retry_after(response.headers))
        if response.status_code in (401, 403):
            raise SettingsError(
                f"{self._said(path, response)} (request {request_id})\n"
                "Set generator.api_key_env or generator.api_key_file to a key that the server takes"
            )
        if not response.is_success:
            raise Refused(self._said(path, response), request_id, response.status_code)
        try:
            parsed = json.loads(response.content)
        except ValueError as error:
            raise _Passing(f"{self.url}{path} answered with broken JSON", request_id) from error
        if not isinstance(parsed, dict):
            raise GenerationFailed(f"{self.url}{path} answered with JSON that is no object", request_id)
        return Reply(parsed, request_id)

    def _said(self, path: str, response: httpx.Response) -> str:
        """Status and message of an error in one line, the key taken out: some servers repeat it."""
        text = response.text
        try:
            body = json.loads(text)
            error = body.get("error", body) if isinstance(body, dict) else body
            text = str(error.get("message", error)) if isinstance(error, dict) else str(error)
        except ValueError:
            pass  # no JSON: shown as it is
        return f"{self.url}{path}: HTTP {response.status_code}: {self._safe(text)}"

    def _safe(self, text: str) -> str:
        line = " ".join(text.split())
        return (line.replace(self._key, "***") if self._key else line)[:_SHOWN]


def _failure(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _asked(state: RetryCallState) -> float:
    """Seconds that the server asked to wait."""
    failure = _failure(state)
    return failure.wait if isinstance(failure, _Passing) else 0.0


def _retry_after(headers: httpx.Headers) -> float:
    """Seconds until the time that Retry-After names; 0 where it names none."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value[:9])
    parsed = email.utils.parsedate_tz(value)
    return max(0.0, email.utils.mktime_tz(parsed) - time.time()) if parsed else 0.0
