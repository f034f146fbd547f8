"""What a server of completions can do, found out once at start by a few small requests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..errors import CapabilityError, GenerationFailed, InputError
from .client import Refused, ServerClient
from .completed import UNKNOWN, Completed, Encode
from .completions import generation_body, read_completion, scoring_body

CLOSE: Final = 0.1
"""Nats by which generating and scoring the same tokens may differ: half-precision servers round otherwise."""

ENOUGH: Final = 0.9
"""Share of K distinct entries below which a server is taken to show fewer: some collide as strings."""

_TOKENS: Final = 12

_CHANGE: Final = "Set generator.url to a server that does so, or generator.backend to vllm or transformers"

Scores = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Served:
    """What the server can do.

    `adds_bos`: it puts a BOS of its own before token ids. `why_no_scores` is "" where it scores given tokens.
    """

    vllm: bool
    context_tokens: int | None
    max_top_k: int
    adds_bos: bool
    why_no_scores: str


def probe(client: ServerClient, model: str, ids: Sequence[int], encode: Encode, top_k: int) -> Served:
    """Ask the server about `model`; `ids` are a short prompt, K is looked for up to `top_k`.

    Raises InputError for a model that it does not serve, CapabilityError where it takes no token ids or shows
    no log-probabilities, GenerationFailed where it does not answer.
    """
    context_tokens, vllm = _listed(client, model)
    ask = _Probe(client, model, ids, vllm)
    own = ask.complete(generation_body(model, ids, _TOKENS, 1, (), vllm=vllm))
    if not isinstance(own, Completed):
        raise CapabilityError(
            f"{client.url} completes no token ids with log-probabilities: {own}\n{_CHANGE}"
        ) from own
    fault = ask.fault(own, encode)
    return Served(
        vllm=vllm,
        context_tokens=context_tokens,
        max_top_k=ask.largest_k(top_k),
        adds_bos=own.prompt_tokens == len(ids) + 1,
        why_no_scores=f"{fault}\n{_CHANGE}" if fault else "",
    )


def _listed(client: ServerClient, model: str) -> tuple[int | None, bool]:
    """The model's context in tokens where the server's list says it, and whether the server is vLLM."""
    try:
        entries = client.ask_now("/v1/models").body.get("data")
    except Refused:
        return None, False
    models: dict[str, Any] = {str(e.get("id")): e for e in entries or () if isinstance(e, dict)}
    if models and model not in models:
        names = ", ".join(sorted(models))[:200]
        raise InputError(f"{client.url} does not serve generator.model = {model}; it serves {names}")
    entry = models.get(model, {})
    context = entry.get("max_model_len")
    return context if isinstance(context, int) else None, entry.get("owned_by") == "vllm"


@dataclass(frozen=True, slots=True)
class _Probe:
    client: ServerClient
    model: str
    ids: Sequence[int]
    vllm: bool

    def complete(self, body: dict[str, Any]) -> Completed | GenerationFailed:
        """What came back, or why it is of no use. Trouble in passing is raised."""
        try:
            reply = self.client.ask_now("/v1/completions", body)
        except Refused as error:
            return error
        try:
            return read_completion(reply)
        except GenerationFailed as error:
            return error

    def largest_k(self, wanted: int) -> int:
        """The largest K up to `wanted` that is not refused and brings (nearly) K entries."""
        good, bad = 0, wanted + 1
        asked = wanted
        while bad - good > 1:
            count = self._shown(asked)
            if count >= ENOUGH * asked:
                good = asked
            elif count:
                return count  # a server that shows fewer than asked for has told its limit
            else:
                bad = asked
            asked = (good + bad) // 2
        return good

    def _shown(self, top_k: int) -> int:
        """How many entries a step has, 0 where the request is refused."""
        choice = self.complete(generation_body(self.model, self.ids, 1, top_k, (), vllm=self.vllm))
        return len(choice.steps[0]) if isinstance(choice, Completed) and choice.steps else 0

    def fault(self, own: Completed, encode: Encode) -> str:
        """Why given tokens cannot be scored, "" if they can: the scores of its `own` answer are compared."""
        written = own.token_ids(encode)
        known = written.index(UNKNOWN) if UNKNOWN in written else len(written)
        choice = self.complete(scoring_body(self.model, [*self.ids, *written[:known]], vllm=self.vllm))
        if not isinstance(choice, Completed):
            return str(choice)
        return _difference(choice.logprobs[-known:], own.logprobs[:known], self.client.url)


def _difference(scores: Scores, expected: Scores, url: str) -> str:
    """How the scores of an answer differ from those that it was written with, "" if they do not."""
    if len(expected) < 3:
        return f"{url} wrote too little at start to check its scores"
    if len(scores) < len(expected) or None in scores:
        return f"{url} echoes a prompt without all of its log-probabilities"
    if _close(scores, expected):
        return ""
    if len({round(score, 6) for score in scores if score is not None}) == 1:
        return f"{url} gives every token of a prompt the same log-probability"
    if _close(scores[1:], expected[:-1]) or _close(scores[:-1], expected[1:]):
        return f"the log-probabilities that {url} echoes are shifted by one token"
    return f"{url} scores its own answer otherwise than it wrote it"


def _close(left: Scores, right: Scores) -> bool:
    return all(
        a is not None and b is not None and abs(a - b) <= CLOSE for a, b in zip(left, right, strict=True)
    )
