"""The completions protocol: what is asked, and what of the answer can be trusted.

Log-probabilities that the server lacks, it writes as null, -inf or -9999, or leaves out: all are missing
values. A step's missing entries are left out; a token's own log-probability must be there.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel, Field, ValidationError

from ..errors import GenerationFailed
from .client import Reply

MISSING: Final = -9999.0
"""What vLLM and others write for -inf, which JSON lacks."""

UNKNOWN: Final = -1
"""The id of a token that the server showed only as text, and whose text is not one token."""

Encode = Callable[[str], tuple[int, ...]]
"""The ids of a text on its own."""

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


@dataclass(frozen=True, slots=True)
class Completed:
    """One choice: parallel per token, the end-of-sequence token included where the server shows it.

    `ids` are None where the server writes tokens as text; `steps` hold the finite entries, descending.
    """

    text: str
    finish: Literal["stop", "length"]
    tokens: tuple[str, ...]
    ids: tuple[int, ...] | None
    logprobs: tuple[float | None, ...]
    steps: tuple[tuple[float, ...], ...]
    prompt_tokens: int | None
    request_id: str

    def logprob(self, place: int) -> float:
        """That of one token. Raises GenerationFailed where it is missing."""
        value = self.logprobs[place]
        if value is None:
            raise GenerationFailed("the server gave a token no log-probability", self.request_id)
        return value


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


def read_completion(reply: Reply) -> Completed:
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
        steps=tuple(_step(top or {}) for top in tops),
        prompt_tokens=completion.usage.prompt_tokens if completion.usage else None,
        request_id=reply.request_id,
    )


def present(logprob: float | None) -> float | None:
    """A log-probability, None where it is a missing value. NaN is one too."""
    if logprob is None or not math.isfinite(logprob) or logprob <= MISSING:
        return None
    return logprob


def _step(top: Mapping[str, float | None]) -> tuple[float, ...]:
    values = (present(value) for value in top.values())
    return tuple(sorted((value for value in values if value is not None), reverse=True))


def _ids(tokens: Sequence[str]) -> tuple[int, ...] | None:
    numbers = [token.removeprefix(_ID_PREFIX) for token in tokens if token.startswith(_ID_PREFIX)]
    if len(numbers) != len(tokens) or not all(number.isdecimal() for number in numbers):
        return None
    return tuple(map(int, numbers))


def token_ids(choice: Completed, encode: Encode) -> tuple[int, ...]:
    """The ids of a choice's tokens; UNKNOWN for text that is no single token."""
    if choice.ids is not None:
        return choice.ids
    encoded = (encode(token) for token in choice.tokens)
    return tuple(ids[0] if len(ids) == 1 else UNKNOWN for ids in encoded)


def answer_of(text_of: Callable[[int], str], choice: Completed, stop: Sequence[str]) -> tuple[str, int]:
    """The answer's text, before any stop string, and how many of the choice's tokens belong to it.

    `text_of(n)` is the text of the first n tokens. The token that completes a stop string does not belong,
    nor does the end-of-sequence token, whether it is shown as text or as nothing.
    """
    kept = len(choice.tokens)
    if choice.finish == "length":
        return choice.text, kept
    whole = text_of(kept)
    found = [position for string in stop if (position := whole.find(string)) >= 0]
    text = whole[: min(found)] if found else choice.text
    while kept and len(text_of(kept)) > len(text):
        kept -= 1
    while not found and kept and len(text_of(kept - 1)) == len(text_of(kept)):
        kept -= 1
    return text, kept
