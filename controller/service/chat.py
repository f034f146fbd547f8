"""POST /v1/chat/completions: OpenAI's protocol, so that its clients and existing bots work unchanged."""

import time
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fastapi import APIRouter, Request, Response

from ..answer import Answer
from ..trace import Event, Finished, Opened, Wrote
from .answer_body import AnswerBody
from .answering import answered
from .chat_models import (
    Annotation,
    ChatCompletion,
    ChatRequest,
    Choice,
    Chunk,
    ChunkChoice,
    CompletionTokens,
    Delta,
    Extension,
    Reply,
    UrlCitation,
    Usage,
)
from .conversing import Asked, asked
from .dependencies import CallDep, ServiceDep, check_model
from .errors import documented, error_body, failed
from .leaving import ClientGone, unless_gone
from .service import Call, Service
from .streaming import begun, event_stream

router = APIRouter(tags=["chat"])

ABSTENTION = "I cannot answer that from the documents at hand."

DONE = "data: [DONE]\n\n"
COMMENT = ": still at work\n\n"


@router.post(
    "/v1/chat/completions",
    response_model=ChatCompletion,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "the completion, or with `stream` chunks"},
        **documented(400, 401, 404, 413, 415, 422, 429, 500, 503, 504),
    },
)
async def complete(body: ChatRequest, request: Request, service: ServiceDep, call: CallDep) -> Response:
    """Answer the last user message within its conversation, or abstain; both are status 200."""
    check_model(service, body.model)
    question = asked(service, body)
    reply = _Completion(body, question)
    if body.stream:
        events = await begun(request, question.service, call, question.question, body.budget)
        return event_stream(_chunks(reply, events, service, call))
    run = answered(question.service, call, question.question, body.budget)
    answer, trace = await unless_gone(request, run)
    return Response(reply.whole(answer, trace).model_dump_json(), media_type="application/json")


async def _chunks(
    reply: "_Completion", events: AsyncIterator[Event | None], service: Service, call: Call
) -> AsyncIterator[str]:
    """The role at once, a comment an event, and the answer as soon as it is chosen, then `[DONE]`.

    What fails after that is an event that holds an error, as OpenAI sends it.
    """
    yield _frame(reply.chunk(Delta(role="assistant", content="")))
    trace: list[Event] = []
    try:
        async for event in events:
            if event is not None:
                trace.append(event)
            if isinstance(event, Finished):
                for chunk in reply.pieces(event.answer, trace):
                    yield _frame(chunk)
            else:
                yield COMMENT
    except ClientGone:
        return
    except Exception as error:
        refused = failed(error, call.request_id, content=service.settings.service.log_content)
        yield f"data: {error_body(refused, call.request_id).model_dump_json()}\n\n"
        return
    yield DONE


def _frame(chunk: Chunk) -> str:
    return f"data: {chunk.model_dump_json(exclude_unset=True)}\n\n"


@dataclass(frozen=True, slots=True)
class _Completion:
    """The response to one request, whole or in pieces."""

    body: ChatRequest
    question: Asked
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, answer: Answer, trace: Sequence[Event]) -> ChatCompletion:
        """The completion as one object."""
        message = Reply(content=_text(answer), annotations=_annotations(answer))
        return ChatCompletion(
            id=self.id,
            created=self.created,
            model=self.body.model,
            choices=(Choice(message=message, finish_reason=_finish(answer, trace)),),
            usage=_usage(answer, trace),
            sufficit=self._extension(answer),
        )

    def pieces(self, answer: Answer, trace: Sequence[Event]) -> list[Chunk]:
        """The chunks after the first: the text with its citations, the end, and the usage if it is wanted."""
        text = Delta(content=_text(answer), annotations=_annotations(answer))
        end = self.chunk(Delta(), _finish(answer, trace))
        chunks = [self.chunk(text), end.model_copy(update={"sufficit": self._extension(answer)})]
        if self.body.stream_options is not None and self.body.stream_options.include_usage:
            last = self.chunk(Delta())
            chunks.append(last.model_copy(update={"choices": (), "usage": _usage(answer, trace)}))
        return chunks

    def chunk(self, delta: Delta, finish: Literal["stop", "length"] | None = None) -> Chunk:
        """One chunk."""
        choice = ChunkChoice(index=0, delta=delta, finish_reason=finish)
        return Chunk(
            id=self.id,
            object="chat.completion.chunk",
            created=self.created,
            model=self.body.model,
            choices=(choice,),
        )

    def _extension(self, answer: Answer) -> Extension:
        shown = AnswerBody.model_validate(answer)
        return Extension(
            **{name: getattr(shown, name) for name in AnswerBody.model_fields},
            abstained=answer.action == "abstain",
            question=self.question.question,
            turns_read=self.question.turns_read,
        )


def _text(answer: Answer) -> str:
    return answer.answer if answer.answer is not None else f"{ABSTENTION} {answer.reason}"


def _annotations(answer: Answer) -> tuple[Annotation, ...]:
    """Every citation, over the whole message: answers are a phrase, and rest on their evidence as a whole."""
    return tuple(
        Annotation(
            type="url_citation",
            url_citation=UrlCitation(
                start_index=0,
                end_index=len(_text(answer)),
                title=citation.title or citation.source or citation.id,
                url=citation.url or citation.source or citation.id,
            ),
        )
        for citation in answer.citations
    )


def _finish(answer: Answer, trace: Sequence[Event]) -> Literal["stop", "length"]:
    """How the generation that is the answer ended."""
    for event in reversed(trace):
        if isinstance(event, Wrote) and answer.source in ("rag", "agree"):
            return event.rag.finish
        if isinstance(event, Opened) and answer.source == "direct":
            return event.direct.finish
    return "stop"


def _usage(answer: Answer, trace: Sequence[Event]) -> Usage:
    written = [event.direct for event in trace if isinstance(event, Opened)]
    written += [event.rag for event in trace if isinstance(event, Wrote)]
    prompts = sum(generation.prompt_tokens for generation in written)
    generated = int(answer.budget.spent["generated_tokens"])
    told = next((len(g.token_ids) for g in reversed(written) if g.text == answer.answer), 0)
    return Usage(
        prompt_tokens=prompts,
        completion_tokens=generated,
        total_tokens=prompts + generated,
        completion_tokens_details=CompletionTokens(reasoning_tokens=max(0, generated - told)),
    )
