"""The one error format of the service, and how everything that can go wrong becomes it.

    {"error": {"type": "invalid_value", "message": "…", "field": "passages.3.text", "request_id": "…"}}

`field` is the dotted path of what is wrong in the body, or the name of a header; null where it is neither.
"""

import logging
import math
import traceback
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from ...tools.errors import InputError, RunError, SufficitError, ToolError

log = logging.getLogger("sufficit.service")

INTERNAL = "internal"


class ErrorDetail(BaseModel):
    """What went wrong with one request."""

    model_config = ConfigDict(frozen=True)

    type: str = Field(description="kind of error, for programs", examples=["invalid_value"])
    message: str = Field(description="what is wrong and what to do about it, in one or two lines")
    field: str | None = Field(
        description="dotted path of what is wrong in the body, or a header's name; null for neither"
    )
    request_id: str = Field(description="the request's id, as in the header X-Request-ID")


class ErrorBody(BaseModel):
    """The body of every answer that is not 2xx, /ready excepted."""

    model_config = ConfigDict(frozen=True)

    error: ErrorDetail


class Refused(SufficitError):
    """A request that is answered with an error.

    Attributes
    ----------
    status: HTTP status. kind: the error's type, for programs. field: what in the request is wrong, if any.
    retry_after: seconds after which it may go through, if that is a question of time.
    """

    def __init__(
        self, status: int, kind: str, message: str, field: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.field = field
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """Headers that the status asks for."""
        headers = {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}
        if self.retry_after is not None:
            headers["Retry-After"] = str(max(1, math.ceil(self.retry_after)))
        return headers


STATUSES = {
    400: "The body is no JSON, or no UTF-8.",
    401: "The API key is missing, unknown or expired.",
    404: "There is no such route, model or index.",
    405: "The route has no such method.",
    413: "The body is longer than the server reads.",
    415: "The body is not declared as JSON.",
    422: "A field is missing, unknown, or has a value that is not allowed; `field` names it.",
    429: "The queue is full, or the key's rate or budget is spent; Retry-After says when to come back.",
    500: "The server failed.",
    502: "A model's server or another tool failed.",
    503: "The server is shutting down, or something it stands on cannot be used.",
    504: "The deadline passed before the work was done.",
}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for OpenAPI."""
    return {status: {"model": ErrorBody, **_described(status)} for status in statuses}


def _described(status: int) -> dict[str, Any]:
    described: dict[str, Any] = {"description": STATUSES[status]}
    if status == 429:
        seconds = {"type": "integer", "minimum": 1}
        described["headers"] = {"Retry-After": {"description": "seconds to wait", "schema": seconds}}
    return described


def error_body(refused: Refused, request_id: str) -> ErrorBody:
    """A refusal in the one error format; what is no Unicode becomes a question mark."""
    field = refused.field
    detail = ErrorDetail(
        type=refused.kind,
        message=_unicode(str(refused)),
        field=None if field is None else _unicode(field)[:200],
        request_id=request_id,
    )
    return ErrorBody(error=detail)


def error_response(refused: Refused, request_id: str) -> JSONResponse:
    """The response for a refusal."""
    body = error_body(refused, request_id).model_dump()
    return JSONResponse(body, status_code=refused.status, headers=refused.headers)


def refusal(error: Exception) -> Refused:
    """Any error as the refusal that its request is answered with."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, InputError):
        return Refused(422, "invalid_value", str(error), "question")
    if isinstance(error, ToolError):
        return Refused(502, "tool_failed", str(error))
    if isinstance(error, RunError):
        return Refused(503, "unavailable", str(error))
    if isinstance(error, SufficitError):
        return Refused(500, "misconfigured", str(error))
    return Refused(500, INTERNAL, "the server failed; its log names the fault under this request id")


def failed(error: Exception, request_id: str, *, content: bool) -> Refused:
    """As `refusal`; an unforeseen error is logged."""
    refused = refusal(error)
    if refused.kind == INTERNAL:
        log_failure(error, request_id, content=content)
    return refused


def log_failure(error: Exception, request_id: str, *, content: bool) -> None:
    """Log where an error came from; its message, which may quote the request, only if `content`."""
    where = "".join(traceback.format_tb(error.__traceback__))
    what = repr(error) if content else type(error).__name__
    log.error("request %s failed: %s\n%s", request_id, what, where)


def install(app: FastAPI) -> None:
    """Let every error of the application's routes leave in the one format."""

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return error_response(_invalid(error), request.state.request_id)

    async def http(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        response = error_response(_http(error), request.state.request_id)
        response.headers.update(error.headers or {})
        return response

    async def foreseen(request: Request, error: Exception) -> JSONResponse:
        return error_response(refusal(error), request.state.request_id)

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(SufficitError, foreseen)


def _http(error: HTTPException) -> Refused:
    kinds = {400: "malformed_body", 404: "not_found", 405: "method_not_allowed"}
    messages = {
        400: "the body could not be read as JSON in UTF-8",
        404: "there is no such route; /openapi.json lists them",
        405: "the route has no such method; the header Allow lists those it has",
    }
    status = error.status_code
    field = "body" if status == 400 else None
    return Refused(status, kinds.get(status, "refused"), messages.get(status, str(error.detail)), field)


def _invalid(error: RequestValidationError) -> Refused:
    first: Mapping[str, Any] = error.errors()[0]
    # Parts in quotation marks are pydantic's names for the forms of a body, not the client's.
    place = [text for text in map(str, first["loc"]) if not text.startswith("«")]
    if first["type"] == "json_invalid":
        return Refused(400, "malformed_body", f"the body is no JSON: {first['ctx']['error']}", "body")
    if first["type"] != "missing" and isinstance(first["input"], bytes):
        return Refused(415, "not_json", "send the body as Content-Type: application/json", "Content-Type")
    field = ".".join(place[1:] if place[0] == "body" and len(place) > 1 else place)
    kinds = {"missing": "missing_field", "extra_forbidden": "unknown_field"}
    message = str(first["msg"]).removeprefix("Value error, ")
    return Refused(422, kinds.get(first["type"], "invalid_value"), f"{field[:200]}: {message}", field)


def _unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
