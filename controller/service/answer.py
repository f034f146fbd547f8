"""POST /v1/answer: the object of `ask --json`, or the same as server-sent events."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from ..answer import Answer
from ..trace import Event, Finished, to_json
from .answer_body import AnswerBody
from .answering import RequestBudget, answered
from .dependencies import CallDep, ServiceDep, check_model
from .errors import documented, error_body, failed
from .fields import In, Text, Wording
from .leaving import ClientGone, unless_gone
from .service import Call, Service
from .streaming import begun, event_stream, frame, sse_schema

router = APIRouter(tags=["answers"])

EVENTS = "text/event-stream"
_STREAM = {
    "description": "The answer or a reasoned abstention; with `stream`, or `Accept: text/event-stream`, "
    "server-sent events: one a stage as it happens, named by its kind, with the event as data; at last "
    "`answer` with this object, or `error` with an error body.",
    "content": {EVENTS: {"schema": sse_schema("one event as JSON; of `answer`, this object")}},
}


class AnswerRequest(In):
    """A question to be answered from the server's index."""

    question: Wording = Field(description="the question; the server's setting question_characters limits it")
    budget: RequestBudget | None = Field(default=None, description="what it may cost; null is the server's")
    model: Text | None = Field(default=None, description="as /v1/models lists it; null takes the one served")
    trace: bool = Field(default=False, description="whether the answer holds the run's events")
    stream: bool = Field(default=False, description="server-sent events instead of one JSON object")


class TracedAnswer(AnswerBody):
    """The answer, with the run's events where they were asked for."""

    trace: list[dict[str, Any]] | None = Field(
        default=None, description="every event of the run in order; null unless asked for"
    )


@router.post(
    "/v1/answer",
    response_model=TracedAnswer,
    responses={200: _STREAM, **documented(400, 401, 404, 413, 415, 422, 429, 500, 503, 504)},
)
async def answer(body: AnswerRequest, request: Request, service: ServiceDep, call: CallDep) -> Response:
    """Answer the question, or abstain with a reason; both are status 200."""
    check_model(service, body.model)
    if body.stream or EVENTS in request.headers.get("accept", ""):
        events = await begun(request, service, call, body.question, body.budget)
        return event_stream(_frames(events, body.trace, service, call))
    result, trace = await unless_gone(request, answered(service, call, body.question, body.budget))
    return Response(_shown(result, trace if body.trace else None), media_type="application/json")


async def _frames(
    events: AsyncIterator[Event | None], traced: bool, service: Service, call: Call
) -> AsyncIterator[str]:
    heard = list[Event]()
    try:
        async for event in events:
            if event is None:
                yield ": still at work\n\n"
                continue
            heard.append(event)
            if isinstance(event, Finished):
                yield frame("answer", _shown(event.answer, heard if traced else None))
            else:
                yield frame(event.kind, public(event))
    except ClientGone:
        return
    except Exception as error:
        refused = failed(error, call.request_id, content=service.settings.service.log_content)
        yield frame("error", error_body(refused, call.request_id).model_dump())


def _shown(answer: Answer, trace: Sequence[Event] | None) -> str:
    shown = TracedAnswer.model_validate(answer)
    if trace is not None:
        shown = shown.model_copy(update={"trace": [public(event) for event in trace]})
    return shown.model_dump_json()


def public(event: Event) -> dict[str, Any]:
    """An event as clients see it: without the server's settings, which name its files and networks."""
    shown = to_json(event)
    shown.pop("settings", None)
    return shown
