"""The completions protocol: what is asked, and what of the answer can be trusted.

Log-probabilities that the server lacks, it writes as null, -inf or -9999, or leaves out: all are missing
values. A step's missing entries are left out; a token's own log-probability must be there.
"""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, Field, ValidationError

from ..errors import GenerationFailed
from .completed import Completed

if TYPE_CHECKING:  # the client needs packages that vLLM in process does without
    from .client import Reply

MISSING: Final = -9999.0
"""What vLLM and others write for -inf, which JSON lacks."""

_ID_PREFIX: Final = "token_id:"


class _Logprobs(BaseModel):
    tokens: tuple[str, ...]
    token_logprobs: tuple[float | None, ...]
    top_logprobs: tuple[dict[str, float | None] | None, ...] | None = None


class _Choice(BaseModel):
    text: str
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Usage(BaseModel):
    prompt_tokens: int


class _Completion(BaseModel):
    choices: tuple[_Choice, ...] = Field(min_length=1, max_length=1)
    usage: _Usage | None = None


def generation_body(
    model: str, ids: Sequence[int], max_tokens: int, top_k: int, stop: Sequence[str], *, vllm: bool
) -> dict[str, Any]:
    """A greedy completion of token ids, with `top_k` log-probabilities a step."""
    body: dict[str, Any] = {
        "model": model,
        "prompt": list(ids),
        "max_tokens": max_tokens,
        "temperature": 0,
        "logprobs": max(1, top_k),
    }
    if stop:
        body["stop"] = list(stop)
    if vllm:
        # As strings, keys of different tokens collide. The penalty may stand in the model's own defaults.
        body |= {"return_tokens_as_token_ids": True, "repetition_penalty": 1.0}
    return body


def scoring_body(model: str, ids: Sequence[int], *, vllm: bool) -> dict[str, Any]:
    """The log-probabilities of token ids as they stand, nothing generated."""
    return generation_body(model, ids, 0, 1, (), vllm=vllm) | {"echo": True}


def read_completion(reply: "Reply") -> Completed:
    """The one choice of a reply. Raises GenerationFailed where it is not as the protocol says."""
    try:
        completion = _Completion.model_validate(reply.body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise GenerationFailed(
            f"the server's completion is malformed at {where}: {first['msg']}", reply.request_id
        ) from error
    choice = completion.choices[0]
    if choice.logprobs is None:
        raise GenerationFailed("the server's completion has no log-probabilities", reply.request_id)
    shown = choice.logprobs
    tops = shown.top_logprobs or ()
    if len(shown.tokens) != len(shown.token_logprobs) or (tops and len(tops) != len(shown.tokens)):
        raise GenerationFailed("tokens and log-probabilities differ in number", reply.request_id)
    return Completed(
        text=choice.text,
        finish="length" if choice.finish_reason == "length" else "stop",
        tokens=shown.tokens,
        ids=_ids(shown.tokens),
        logprobs=tuple(map(present, shown.token_logprobs)),
        steps=tuple(step_entries((top or {}).values()) for top in tops),
        prompt_tokens=completion.usage.prompt_tokens if completion.usage else None,
        request_id=reply.request_id,
    )


def present(logprob: float | None) -> float | None:
    """A log-probability, None where it is a missing value. NaN is one too."""
    if logprob is None or not math.isfinite(logprob) or logprob <= MISSING:
        return None
    return logprob


def step_entries(logprobs: Iterable[float | None]) -> tuple[float, ...]:
    """A step's log-probabilities, descending, without the missing ones."""
    values = map(present, logprobs)
    return tuple(sorted((value for value in values if value is not None), reverse=True))


def _ids(tokens: Sequence[str]) -> tuple[int, ...] | None:
    numbers = [token.removeprefix(_ID_PREFIX) for token in tokens if token.startswith(_ID_PREFIX)]
    if len(numbers) != len(tokens) or not all(number.isdecimal() for number in numbers):
        return None
    return tuple(map(int, numbers))
