"""POST /v1/answer: the object of `ask --json`, or the same as server-sent events."""

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from ..trace import Event, to_json
from .answer_body import AnswerBody
from .answering import RequestBudget, answered
from .dependencies import CallDep, ServiceDep, check_model
from .errors import documented
from .fields import In, Wording
from .leaving import unless_gone

router = APIRouter(tags=["answers"])


class AnswerRequest(In):
    """A question to be answered from the server's index."""

    question: Wording = Field(description="the question; the server's setting question_characters limits it")
    budget: RequestBudget | None = Field(default=None, description="what it may cost; null is the server's")
    model: str | None = Field(default=None, description="as /v1/models lists it; null takes the one served")
    trace: bool = Field(default=False, description="whether the response holds the run's events")
    stream: bool = Field(default=False, description="server-sent events instead of one JSON object")


class TracedAnswer(AnswerBody):
    """The answer, with the run's events where they were asked for."""

    trace: list[dict[str, Any]] | None = Field(
        default=None, description="every event of the run in order; null unless asked for"
    )


@router.post(
    "/v1/answer",
    response_model=TracedAnswer,
    responses=documented(400, 401, 404, 413, 422, 429, 500, 503, 504),
)
async def answer(body: AnswerRequest, request: Request, service: ServiceDep, call: CallDep) -> Response:
    """Answer the question, or abstain with a reason; both are status 200."""
    check_model(service, body.model)
    result, events = await unless_gone(request, answered(service, call, body.question, body.budget))
    shown = TracedAnswer.model_validate(result)
    if body.trace:
        shown = shown.model_copy(update={"trace": [public(event) for event in events]})
    return Response(shown.model_dump_json(), media_type="application/json")


def public(event: Event) -> dict[str, Any]:
    """An event as clients see it: without the server's settings, which name its files and networks."""
    shown = to_json(event)
    shown.pop("settings", None)
    return shown
