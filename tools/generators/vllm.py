"""vLLM in this process: continuous batching, prefixes cached for what it generates, prompts scored.

vLLM is imported when a generator is loaded: it is an extra of its own. Prompts that are scored pass by its
prefix cache, since that holds no log-probabilities.
"""

import asyncio
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Self

from ..errors import InputError, SettingsError
from ..models.resolve import resolve
from ..types import Capabilities, Generation, Prompt, Rollout
from .completed import Completed
from .completions import present, step_entries
from .encoding import PromptEncoder, local_encoding
from .engine import Engine
from .limits import answer_room, check_length, check_top_k


class VllmGenerator:
    """See Generator. Calls may come from any event loop, any number at once."""

    def __init__(self, engine: Engine, encoding: PromptEncoder, capabilities: Capabilities) -> None:
        self._engine = engine
        self._encoding = encoding
        self._capabilities = capabilities

    @classmethod
    def load(
        cls,
        model: str,
        *,
        top_k: int,
        context_tokens: int | None = None,
        dtype: str = "auto",
        eager: bool = False,
    ) -> Self:
        """Load `model`: a catalogue name, a folder, a GGUF file or a hub name.

        `top_k` is the largest K that will be asked for; `context_tokens` None is what the model was trained
        for. `dtype` auto is float32 on CPU and the model's own elsewhere. `eager` starts sooner and runs
        slower. Raises SettingsError without vLLM, ModelMissing, or InputError for a model that it refuses.
        """
        folder = resolve(model)
        llm = _start(
            model=str(folder),
            dtype=dtype,
            max_model_len=None if context_tokens is None else context_tokens + 1,
            max_logprobs=top_k,
            enable_prefix_caching=True,
            enforce_eager=eager,
        )
        encoding = local_encoding(model)
        capabilities = Capabilities(
            model=model,
            max_top_k=top_k,
            # It wants room for one token more than a prompt that it only scores.
            context_tokens=llm.model_config.max_model_len - 1,
            scores_prompts=True,
            hidden_states=False,
            has_chat_template=encoding.has_chat_template,
            control_tokens=encoding.control_tokens,
        )
        return cls(Engine(llm.llm_engine), encoding, capabilities)

    @property
    def capabilities(self) -> Capabilities:
        """What it can do, as it was started."""
        return self._capabilities

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` on its own, without special tokens."""
        return len(self._encoding.text_ids(text))

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        """Greedy answers, one a prompt, of at most `max_tokens` tokens.

        Raises InputError for a prompt that leaves no room in the context, ToolError where vLLM fails.
        """
        return [rollout.generation for rollout in await self._rollouts(prompts, max_tokens, 0)]

    async def rollout(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        """Greedy rollouts with the `top_k` log-probabilities of every step (IGP section 3.2).

        Raises as `generate` does, and CapabilityError for `top_k` outside [1, max_top_k].
        """
        check_top_k(top_k, self._capabilities)
        return await self._rollouts(prompts, max_tokens, top_k)

    async def score(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[float, ...]]:
        """Teacher-forced natural-log probabilities of every token of each continuation after `prompt`.

        Raises InputError where prompt and continuation exceed the context, ToolError where vLLM fails.
        """
        ids = self._encoding.prompt_ids(prompt)
        tokens = [self._encoding.text_ids(text) for text in continuations]
        check_length(len(ids) + max(map(len, tokens), default=0), self._capabilities)
        params = _parameters(max_tokens=1, prompt_logprobs=0, detokenize=False)
        requests = [(_prompt((*ids, *continuation)), params) for continuation in tokens if continuation]
        outputs = iter(await self._engine.run(requests))
        return [_scores(next(outputs), continuation) if continuation else () for continuation in tokens]

    async def _rollouts(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        rows = [self._encoding.prompt_ids(prompt) for prompt in prompts]
        requests = [
            (
                _prompt(ids),
                _parameters(
                    max_tokens=answer_room(len(ids), max_tokens, self._capabilities),
                    logprobs=top_k,
                    stop=list(prompt.stop),
                ),
            )
            for ids, prompt in zip(rows, prompts, strict=True)
        ]
        outputs = await self._engine.run(requests)
        return await asyncio.to_thread(
            lambda: [
                self._rollout(output, prompt, top_k) for output, prompt in zip(outputs, prompts, strict=True)
            ]
        )

    def _rollout(self, output: Any, prompt: Prompt, top_k: int) -> Rollout:
        written = output.outputs[0]
        ids = tuple(written.token_ids)
        entries = [[entry.logprob for entry in step.values()] for step in written.logprobs]
        choice = Completed(
            text=self._encoding.text(ids),
            finish="length" if written.finish_reason == "length" else "stop",
            tokens=tuple(map(str, ids)),
            ids=ids,
            logprobs=tuple(
                present(step[token].logprob) for step, token in zip(written.logprobs, ids, strict=True)
            ),
            steps=tuple(step_entries(step)[:top_k] for step in entries) if top_k else (),
            prompt_tokens=len(output.prompt_token_ids),
            request_id=output.request_id,
        )
        generation = choice.generation(self._encoding, prompt.stop, len(output.prompt_token_ids))
        return Rollout(generation, choice.steps)


def _start(**arguments: Any) -> Any:
    # One process, so that the engine ends with its caller; whoever sets these keeps what they set.
    os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    try:
        vllm, platforms = import_module("vllm"), import_module("vllm.platforms")
    except ImportError as error:
        raise SettingsError(
            f"generator.backend = vllm, but vLLM cannot be imported: {error}\n"
            "Install it: pip install 'sufficit[vllm]'; on CPU see `make vllm-env`"
        ) from error
    if arguments["dtype"] == "auto" and platforms.current_platform.is_cpu():
        arguments["dtype"] = "float32"
    try:
        return vllm.LLM(**arguments)
    except (ValueError, RuntimeError, OSError) as error:
        raise InputError(
            f"vLLM cannot run {arguments['model']}: {' '.join(str(error).split())[:300]}"
        ) from error


def _prompt(ids: Sequence[int]) -> Any:
    return {"prompt_token_ids": list(ids)}


def _parameters(**changes: Any) -> Any:
    return import_module("vllm").SamplingParams(temperature=0.0, **changes)


def _scores(output: Any, continuation: Sequence[int]) -> tuple[float, ...]:
    shown = output.prompt_logprobs[-len(continuation) :]
    values = tuple(present(step[token].logprob) for step, token in zip(shown, continuation, strict=True))
    choice = Completed("", "stop", (), None, values, (), None, output.request_id)
    return choice.last_logprobs(len(continuation))
