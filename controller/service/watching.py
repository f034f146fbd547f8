"""What every request came to: for the metrics, the log and the spans. The outermost layer."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...policies.types import SufficiencyReport
from ..answer import Answer
from ..trace import Event, Finished, Started
from .logs import LOGGER
from .metrics import Metrics
from .service import Call, Service

GONE = 499
"""Stands for the status where the client left before there was one."""

UNMATCHED = "unmatched"
"""Stands for the route of a path that there is not."""

ASKED_OFTEN = frozenset({"/health", "/ready", "/metrics"})
"""Logged only at level debug."""


@dataclass(slots=True)
class Seen:
    """What became known of one request while it was worked on."""

    question: str = ""
    answer: Answer | None = None
    decisions: Counter[str] = field(default_factory=Counter)


_SEEN: ContextVar[Seen] = ContextVar("seen")


class Noting:
    """An observer that keeps for each request what its log line will say."""

    def heard(self, call: Call, event: Event) -> None:  # noqa: ARG002  see Observer
        """See Observer."""
        if isinstance(event, Started) and (seen := _SEEN.get(None)):
            seen.question = event.question
        if isinstance(event, Finished) and (seen := _SEEN.get(None)):
            seen.answer = event.answer

    def decided(self, call: Call, report: SufficiencyReport, seconds: float) -> None:  # noqa: ARG002
        """See Observer."""
        if seen := _SEEN.get(None):
            seen.decisions["hit" if report.sufficient else "miss"] += 1


class Watched:
    """Wraps everything else, so that a request refused at the door is counted and logged as well."""

    def __init__(self, app: ASGIApp, service: Service, metrics: Metrics) -> None:
        self._app = app
        self._service = service
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, seen = time.perf_counter(), GONE, Seen()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        token = _SEEN.set(seen)
        try:
            with self._span(scope) as finish:
                try:
                    await self._app(scope, receive, noted)
                finally:
                    finish(scope["method"], _route(scope), status)
        finally:
            _SEEN.reset(token)
            seconds = time.perf_counter() - began
            self._metrics.responded(scope["method"], _route(scope), status, seconds)
            self._log(scope, status, seconds, seen)

    @contextmanager
    def _span(self, scope: Scope) -> Iterator[Callable[[str, str, int], None]]:
        """The request's span, if anything is traced; yields what to call when its end is known."""
        if self._service.spans is None:
            yield lambda *_: None
            return
        from .spans import responded, server_span  # noqa: PLC0415  an extra of its own

        with server_span(self._service.spans, scope["method"], scope["headers"]) as span:
            yield partial(responded, span)

    def _log(self, scope: Scope, status: int, seconds: float, seen: Seen) -> None:
        level = logging.DEBUG if scope["path"] in ASKED_OFTEN else logging.INFO
        if not LOGGER.isEnabledFor(level):
            return
        state = scope.get("state", {})
        call: Call | None = state.get("call")
        fields: dict[str, Any] = {
            "request_id": state.get("request_id"),
            "client": call.client.name if call else None,
            "method": scope["method"],
            "route": _route(scope),
            "status": status,
            "seconds": round(seconds, 6),
        }
        if seen.answer is not None:
            fields |= _ended(seen.answer)
        if seen.decisions:
            fields["decisions"] = dict(seen.decisions)
        if self._service.settings.service.log_content:
            fields["question"] = seen.question or None
            fields["answer"] = seen.answer.answer if seen.answer else None
        LOGGER.log(level, "request", extra={"fields": fields})


def _ended(answer: Answer) -> dict[str, Any]:
    """How a run ended, without a word of it."""
    spent = answer.budget.spent
    return {
        "action": answer.action,
        "source": answer.source,
        "grounded": answer.grounded,
        "trace_id": answer.trace_id,
        "generated_tokens": int(spent["generated_tokens"]),
        "model_calls": int(spent["model_calls"]),
    }


def _route(scope: Scope) -> str:
    """The template of the path that was found; known once the request has passed the router."""
    path: str = getattr(scope.get("route"), "path", UNMATCHED)
    return path
