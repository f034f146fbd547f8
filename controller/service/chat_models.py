"""Bodies of /v1/chat/completions: OpenAI's, as far as an answer from evidence has a meaning for them."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from .answer_body import AnswerBody
from .answering import RequestBudget
from .fields import In, Out, Positive, Text, Whole


def _unsupported(value: Any) -> None:
    if value is not None:
        raise ValueError("is not supported here; leave it out")


Unsupported = Annotated[
    None, BeforeValidator(_unsupported), Field(default=None, description="not supported; null only")
]
"""A parameter of OpenAI's that would change what the answer is, and is refused rather than ignored."""

WITHOUT_EFFECT = "accepted, without effect: answers are greedy"


# What is one text or a list: told apart by that alone, so that what is wrong is named by its place; the tags
# are no part of it.
ONE, SEVERAL = "«one»", "«several»"


def _number(value: Any) -> str:
    return SEVERAL if isinstance(value, list) else ONE


class TextPart(In):
    """A part of a message; only text is read."""

    type: Literal["text"] = Field(description="kind of part")
    text: Text = Field(description="the text")


Content = Annotated[
    Annotated[Text, Tag(ONE)] | Annotated[list[TextPart], Tag(SEVERAL)], Discriminator(_number)
]

StopText = Annotated[Text, Field(min_length=1)]
Stop = Annotated[
    Annotated[StopText, Tag(ONE)] | Annotated[list[StopText], Tag(SEVERAL)], Discriminator(_number)
]


class ChatMessage(In):
    """One message. What an assistant's message of an earlier response holds besides its text is ignored."""

    role: Literal["system", "developer", "user", "assistant"] = Field(description="who speaks")
    content: Content | None = Field(default=None, description="the text; null for an assistant only")
    name: Text | None = Field(default=None, description="accepted, without effect")
    refusal: Text | None = Field(default=None, description="accepted, without effect")
    annotations: list[dict[str, Any]] | None = Field(default=None, description="accepted, without effect")
    audio: Unsupported
    function_call: Unsupported
    tool_calls: Unsupported

    @model_validator(mode="after")
    def _says_something(self) -> "ChatMessage":
        if self.content is None and self.role != "assistant":
            raise ValueError("needs content")
        return self

    @property
    def text(self) -> str:
        """The content as one text, its parts on lines of their own."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(In):
    """What a stream holds besides the answer."""

    include_usage: bool = Field(default=False, description="whether a last chunk tells the usage")
    include_obfuscation: bool | None = Field(default=None, description="accepted, without effect")


class ResponseFormat(In):
    """The form of the answer: text."""

    type: Literal["text"] = Field(description="only `text`")


class ChatRequest(In):
    """A conversation whose last user message is the question."""

    model: Text = Field(description="as /v1/models lists it")
    messages: list[ChatMessage] = Field(
        min_length=1,
        description="oldest first; the server's setting service.history limits their number. The last one "
        "that is not the system's must be the user's, and is the question",
    )
    stream: bool | None = Field(default=None, description="chunks as server-sent events")
    stream_options: StreamOptions | None = Field(default=None, description="with `stream` only")
    max_tokens: Positive | None = Field(
        default=None, description="longest answer in tokens; the server's setting caps it"
    )
    max_completion_tokens: Positive | None = Field(
        default=None, description="as max_tokens; the smaller one counts"
    )
    stop: Stop | None = Field(default=None, description="the answer ends before any of these; at most 4")
    budget: RequestBudget | None = Field(
        default=None, description="an extension: what the question may cost; null is the server's"
    )
    n: Literal[1] | None = Field(default=None, description="only 1")
    logprobs: Literal[False] | None = Field(default=None, description="not supported; false only")
    response_format: ResponseFormat | None = Field(default=None, description="text only")
    modalities: list[Literal["text"]] | None = Field(default=None, description="text only")
    tool_choice: Literal["none", "auto"] | None = Field(default=None, description="there are no tools")
    parallel_tool_calls: bool | None = Field(default=None, description="there are no tools")
    temperature: float | None = Field(
        default=None, ge=0, le=2, allow_inf_nan=False, description=WITHOUT_EFFECT
    )
    top_p: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False, description=WITHOUT_EFFECT)
    presence_penalty: float | None = Field(
        default=None, ge=-2, le=2, allow_inf_nan=False, description=WITHOUT_EFFECT
    )
    frequency_penalty: float | None = Field(
        default=None, ge=-2, le=2, allow_inf_nan=False, description=WITHOUT_EFFECT
    )
    seed: Whole | None = Field(default=None, description=WITHOUT_EFFECT)
    user: Text | None = Field(default=None, description="accepted, without effect")
    safety_identifier: Text | None = Field(default=None, description="accepted, without effect")
    prompt_cache_key: Text | None = Field(default=None, description="accepted, without effect")
    metadata: dict[str, str] | None = Field(default=None, description="accepted, without effect")
    store: bool | None = Field(default=None, description="accepted; nothing is stored")
    service_tier: Text | None = Field(default=None, description="accepted, without effect")
    reasoning_effort: Text | None = Field(default=None, description="accepted, without effect")
    verbosity: Text | None = Field(default=None, description="accepted, without effect")
    tools: Unsupported
    functions: Unsupported
    function_call: Unsupported
    logit_bias: Unsupported
    top_logprobs: Unsupported
    audio: Unsupported
    prediction: Unsupported
    web_search_options: Unsupported

    @property
    def stops(self) -> tuple[str, ...]:
        """The stop strings."""
        if self.stop is None:
            return ()
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)

    @property
    def longest(self) -> int | None:
        """The longest answer in tokens, None where the request leaves it to the server."""
        wanted = [tokens for tokens in (self.max_tokens, self.max_completion_tokens) if tokens is not None]
        return min(wanted, default=None)


class UrlCitation(Out):
    """What a stretch of the message rests on."""

    start_index: int = Field(description="where the stretch begins in the message, in characters", ge=0)
    end_index: int = Field(description="where it ends", ge=0)
    title: str = Field(description="the document's title, or its name")
    url: str = Field(description="the document's address, or its name in the index where it has none")


class Annotation(Out):
    """A citation as OpenAI annotates messages."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class Reply(Out):
    """The message of the response."""

    role: Literal["assistant"] = "assistant"
    content: str = Field(description="the answer; on abstention a sentence that says so, and why")
    refusal: None = None
    annotations: tuple[Annotation, ...] = Field(description="the citations; `sufficit` holds their sentences")


class Choice(Out):
    """The one answer."""

    index: Literal[0] = 0
    message: Reply
    finish_reason: Literal["stop", "length"] = Field(description="`length` where max_tokens cut the answer")
    logprobs: None = None


class CompletionTokens(Out):
    """The generated tokens that are not the answer's: the other answer and the probes of pruning."""

    reasoning_tokens: int = Field(ge=0)


class Usage(Out):
    """Tokens of the run."""

    prompt_tokens: int = Field(description="of the prompts that wrote the two answers", ge=0)
    completion_tokens: int = Field(description="generated, probes and both answers included", ge=0)
    total_tokens: int = Field(description="both", ge=0)
    completion_tokens_details: CompletionTokens


class Extension(AnswerBody):
    """The object of /v1/answer, and how the conversation was read."""

    abstained: bool = Field(description="whether the message says that there is no answer")
    question: str = Field(description="the question as it was asked of the index: it stands on its own")
    turns_read: int = Field(description="earlier messages that the prompts held, the latest ones", ge=0)


class ChatCompletion(Out):
    """OpenAI's object, with the decision and its reasons in `sufficit`."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int = Field(description="Unix seconds")
    model: str
    choices: tuple[Choice, ...]
    usage: Usage
    sufficit: Extension


class Delta(Out):
    """What a chunk adds to the message."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    annotations: tuple[Annotation, ...] | None = None


class ChunkChoice(Out):
    """The one answer, a piece of it."""

    index: Literal[0] = 0
    delta: Delta
    finish_reason: Literal["stop", "length"] | None = None
    logprobs: None = None


class Chunk(Out):
    """One event of a stream; `sufficit` stands in the one that finishes the message."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: tuple[ChunkChoice, ...]
    usage: Usage | None = None
    sufficit: Extension | None = None
