"""What every request passes before its route sees it: an id, its key, the key's rate, the body's length.

Pure ASGI, outermost: nobody's body is read before the key is known, and no more of it than the limit.
"""

import re
import uuid
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import Refused, error_response, failed
from .keys import ANYONE
from .leaving import ClientGone
from .service import Call, Service

OPEN_PATHS = frozenset({"/health", "/ready", "/metrics", "/openapi.json", "/docs"})
"""Served without a key."""

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_DISCARDED = 4  # bodies' lengths that are read and dropped, so that the client gets to read the refusal


class FrontDoor:
    """Wraps the application. `request.state.call` is the Call from here on."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; whatever it fails with leaves in the one error format."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _ID.fullmatch(given) else uuid.uuid4().hex
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        outgoing = _Outgoing(send, request_id)
        try:
            state["call"] = self._admitted(scope, headers, request_id)
            body = await self._body(receive)
            await self._app(scope, _replayed(body, receive), outgoing)
        except ClientGone:
            pass  # nobody is left to answer
        except Exception as error:
            content = self._service.settings.service.log_content
            refused = failed(error, request_id, content=content)
            if not outgoing.begun:
                await error_response(refused, request_id)(scope, receive, outgoing)

    def _admitted(self, scope: MutableMapping[str, Any], headers: Headers, request_id: str) -> Call:
        if scope["path"] in OPEN_PATHS:
            return Call(request_id, ANYONE, scope["path"])
        client = self._service.keys.identify(headers.get("authorization"))
        self._service.keys.count_request(client)
        return Call(request_id, client, scope["path"])

    async def _body(self, receive: Receive) -> bytes:
        """The whole body. Raises Refused 413 where it is too long."""
        limit = self._service.settings.service.body_bytes
        parts, length, more = list[bytes](), 0, True
        while more and length <= _DISCARDED * limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            length += len(message.get("body", b""))
            if length <= limit:
                parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        if length > limit:
            raise Refused(413, "body_too_long", f"a body may have {limit:,} bytes at most", "body")
        return b"".join(parts)


class _Outgoing:
    """Sends on, with the request's id in the headers; knows whether the response has begun."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            MutableHeaders(scope=message)["X-Request-ID"] = self._request_id
        await self._send(message)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body that was read, then whatever comes after it, which is that the client has gone."""
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay
