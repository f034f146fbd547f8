"""A generator behind HTTP: vLLM's server first, and any other whose completions show log-probabilities.

Prompts go as token ids, so that the server re-tokenises nothing and no token spans the join of a prompt and
its continuation.
"""

import asyncio
from collections.abc import Sequence
from typing import Final, Self

from ..errors import CapabilityError, ModelOutputError, SettingsError
from ..types import Capabilities, Generation, Prompt, Rollout
from .client import ServerClient
from .completions import generation_body, read_completion, scoring_body
from .encoding import Encoding, local_encoding
from .limits import answer_room, check_length, check_top_k
from .probing import Served, probe
from .remote_encoding import RemoteEncoding
from .server import ServerSettings

_PROBE: Final = Prompt("Once upon a time, in a town by the sea, there lived")


class HttpGenerator:
    """See Generator. Calls may come from any event loop, any number at once."""

    def __init__(self, client: ServerClient, encoding: Encoding, served: Served, capabilities: Capabilities):
        self._client = client
        self._encoding = encoding
        self._served = served
        self._capabilities = capabilities

    @classmethod
    def connect(
        cls, model: str, settings: ServerSettings, *, top_k: int, context_tokens: int | None = None
    ) -> Self:
        """Meet the server and find out what it can do; takes about ten small requests.

        `model` is its name there. `top_k` is the largest K that will be asked for, `context_tokens` what the
        server's list does not say. Raises SettingsError, InputError or CapabilityError naming the setting to
        change, GenerationFailed where the server does not answer.
        """
        client = ServerClient(settings)
        encoding: Encoding = (
            RemoteEncoding(client, model)
            if settings.tokenizer is None
            else local_encoding(settings.tokenizer)
        )
        served = probe(client, model, encoding.prompt_ids(_PROBE), encoding.text_ids, top_k)
        # vLLM wants room for one token more than a prompt that it only scores.
        listed = served.context_tokens - 1 if served.context_tokens and served.vllm else served.context_tokens
        context = context_tokens or listed
        if context is None:
            raise SettingsError(
                f"{client.url} does not say how much {model} can read; set generator.context_tokens"
            )
        capabilities = Capabilities(
            model=model,
            max_top_k=served.max_top_k,
            context_tokens=context,
            scores_prompts=not served.why_no_scores,
            hidden_states=False,
            has_chat_template=encoding.has_chat_template,
            control_tokens=encoding.control_tokens,
            why_no_scores=served.why_no_scores,
        )
        return cls(client, encoding, served, capabilities)

    @property
    def capabilities(self) -> Capabilities:
        """As found at start; `max_top_k` is not looked for beyond the largest K that will be asked for."""
        return self._capabilities

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` on its own; one request for a new text where the server tokenises."""
        return len(self._encoding.text_ids(text))

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        """Greedy answers, one a prompt, of at most `max_tokens` tokens.

        Raises InputError for a prompt that leaves no room in the context, GenerationFailed.
        """
        rollouts = await asyncio.gather(*(self._rollout(prompt, max_tokens, 0) for prompt in prompts))
        return [rollout.generation for rollout in rollouts]

    async def rollout(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        """Greedy rollouts with the `top_k` log-probabilities of every step that the server shows.

        Raises as `generate` does, and CapabilityError for `top_k` outside [1, max_top_k].
        """
        check_top_k(top_k, self._capabilities)
        return await asyncio.gather(*(self._rollout(prompt, max_tokens, top_k) for prompt in prompts))

    async def score(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[float, ...]]:
        """Teacher-forced natural-log probabilities of every token of each continuation after `prompt`.

        Raises CapabilityError where the server cannot score, InputError where prompt and continuation exceed
        the context, ModelOutputError for a token without a log-probability, GenerationFailed.
        """
        if self._served.why_no_scores:
            raise CapabilityError(self._served.why_no_scores)
        ids = await asyncio.to_thread(self._encoding.prompt_ids, prompt)
        return await asyncio.gather(*(self._score(ids, continuation) for continuation in continuations))

    async def _rollout(self, prompt: Prompt, max_tokens: int, top_k: int) -> Rollout:
        ids = await asyncio.to_thread(self._encoding.prompt_ids, prompt)
        room = answer_room(len(ids), max_tokens, self._capabilities)
        body = generation_body(
            self._capabilities.model, self._sent(ids), room, top_k, prompt.stop, vllm=self._served.vllm
        )
        choice = read_completion(await self._client.ask("/v1/completions", body))
        steps = tuple(step[:top_k] for step in choice.steps) if top_k else ()
        generation = await asyncio.to_thread(choice.generation, self._encoding, prompt.stop, len(ids))
        return Rollout(generation, steps)

    async def _score(self, prompt: tuple[int, ...], continuation: str) -> tuple[float, ...]:
        tokens = await asyncio.to_thread(self._encoding.text_ids, continuation)
        if not tokens:
            return ()
        check_length(len(prompt) + len(tokens), self._capabilities)
        ids = self._sent((*prompt, *tokens))
        body = scoring_body(self._capabilities.model, ids, vllm=self._served.vllm)
        choice = read_completion(await self._client.ask("/v1/completions", body))
        if len(choice.tokens) < len(ids):
            raise ModelOutputError(
                f"the server echoed {len(choice.tokens)} of {len(ids)} tokens (request {choice.request_id})"
            )
        return choice.last_logprobs(len(tokens))

    def _sent(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """What is sent so that the model reads `ids`: exactly one BOS, whoever puts it."""
        put_there = self._served.adds_bos and ids[:1] == (self._encoding.bos,)
        return ids[1:] if put_there else ids
