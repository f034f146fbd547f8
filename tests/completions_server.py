"""A server of completions over a real model, by plain passes of its own: a peer for the HTTP generator.

It speaks as vLLM does, or plainly, and can have the faults that servers are known to have.
"""

import asyncio
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from http_server import Connection, HttpServer, Request, Response, refusal, reply
from sufficit.tools.generators.loading import LoadedModel
from sufficit.tools.models.compute import TURN
from transformers import DynamicCache

COMMON = {"model", "prompt", "max_tokens", "temperature", "logprobs", "echo", "stop"}
VLLM_ONLY = {"return_tokens_as_token_ids", "repetition_penalty"}


@dataclass
class CompletionsServer:
    """`echo`: fair, refused, bare (no scores), constant or shifted. `most` is the largest K: above it a
    request is refused, or, with `clips`, answered with fewer entries. `bos` is put before every prompt."""

    loaded: LoadedModel
    plain: bool = False
    echo: str = "fair"
    most: int = 128
    clips: bool = False
    bos: int | None = None
    lists_tokens: bool = True
    key: str | None = None
    steps_run: int = 0
    _worker: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    @asynccontextmanager
    async def serving(self):
        async with HttpServer(self.handle) as server:
            yield server
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def handle(self, request: Request, connection: Connection) -> Response:
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return refusal(f"Incorrect API key provided: {request.headers.get('authorization')}", 401)
        route = {
            "/v1/models": self._models,
            "/v1/completions": self._completions,
            "/tokenize": self._tokenize,
            "/detokenize": self._detokenize,
            "/tokenizer_info": self._info,
        }.get(request.path)
        if route is None or (self.plain and not request.path.startswith("/v1/")):
            return refusal("Not Found", 404)
        return await route(request.json())

    async def _models(self, _: Any) -> Response:
        entry = {"id": self.loaded.name, "owned_by": "someone" if self.plain else "vllm"}
        if not self.plain:
            entry["max_model_len"] = self.loaded.context_tokens
        return reply({"object": "list", "data": [entry]})

    async def _tokenize(self, body: dict) -> Response:
        tokenizer = self.loaded.tokenizer
        text = body.get("prompt")
        if text is None:
            if not tokenizer.chat_template:
                return refusal("no chat template")
            text = tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
        ids = tokenizer.encode(text, add_special_tokens=body.get("add_special_tokens", True))
        return reply({"tokens": ids, "count": len(ids), "max_model_len": self.loaded.context_tokens})

    async def _detokenize(self, body: dict) -> Response:
        return reply({"prompt": self.loaded.tokenizer.decode(body["tokens"])})

    async def _info(self, _: Any) -> Response:
        if not self.lists_tokens:
            return refusal("Not Found", 404)
        added = {str(n): {"content": str(t)} for n, t in self.loaded.tokenizer.added_tokens_decoder.items()}
        return reply({"bos_token": self.loaded.tokenizer.bos_token, "added_tokens_decoder": added})

    async def _completions(self, body: dict) -> Response:
        if body["model"] != self.loaded.name:
            return refusal(f"The model `{body['model']}` does not exist.", 404)
        strange = set(body) - (COMMON if self.plain else COMMON | VLLM_ONLY)
        if strange:
            return refusal(f"Unrecognized request argument supplied: {strange}")
        if body["logprobs"] > self.most and not self.clips:
            return refusal(f"Requested logprobs of {body['logprobs']}, which is greater than {self.most}")
        if body.get("echo") and self.echo == "refused":
            return refusal("echo is not supported")
        prompt = [self.bos, *body["prompt"]] if self.bos is not None else body["prompt"]
        if len(prompt) + max(1, body["max_tokens"]) > self.loaded.context_tokens + 1:
            return refusal("longer than the maximum model length")
        gone = threading.Event()
        run = self._echoed if body.get("echo") else self._written
        try:
            tokens, steps, finish, text = await asyncio.get_running_loop().run_in_executor(
                self._worker, run, prompt, body, gone
            )
        finally:
            gone.set()
        choice = {"text": text, "finish_reason": finish, "logprobs": self._shown(tokens, steps, body)}
        return reply({"choices": [choice], "usage": {"prompt_tokens": len(prompt)}})

    def _echoed(self, prompt: list[int], body: dict, _: threading.Event) -> tuple:
        assert body["max_tokens"] == 0
        with TURN, torch.inference_mode():
            logits = self.loaded.model(torch.tensor([prompt]), use_cache=False).logits[0]
        logprobs = torch.log_softmax(logits, -1)
        rows = [None, *logprobs[:-1]]
        if self.echo == "shifted":
            rows = [None, None, *logprobs[:-2]]
            prompt_rows = zip([0, *prompt[:-1]], rows, strict=True)
            values = [None if row is None else float(row[token]) for token, row in prompt_rows]
            return prompt, [(value, {}) for value in values], "length", ""
        steps = [
            (None, {}) if row is None else self._step(row, token, 1)
            for token, row in zip(prompt, rows, strict=True)
        ]
        if self.echo == "constant":
            steps = [(0.0, {}) for _ in steps]
        if self.echo == "bare":
            steps = [(None, {}) for _ in steps]
        return prompt, steps, "length", ""

    def _written(self, prompt: list[int], body: dict, gone: threading.Event) -> tuple:
        tokenizer, model = self.loaded.tokenizer, self.loaded.model
        tokens, steps, reading = [], [], prompt
        # transformers 5.24 renames past_key_values to cache.
        name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
        kept = {name: DynamicCache(config=model.config), "use_cache": True}
        while len(tokens) < body["max_tokens"] and not gone.is_set():
            with TURN, torch.inference_mode():
                logits = model(torch.tensor([reading]), **kept).logits[0, -1]
            self.steps_run += 1
            row = torch.log_softmax(logits, -1)
            token = int(row.argmax())
            steps.append(self._step(row, token, min(body["logprobs"], self.most)))
            tokens.append(token)
            text = tokenizer.decode(tokens, skip_special_tokens=True)
            found = [place for stop in body.get("stop", []) if (place := text.find(stop)) >= 0]
            if found or token in self.loaded.end_ids:
                return tokens, steps, "stop", text[: min(found)] if found else text
            reading = [token]
        return tokens, steps, "length", tokenizer.decode(tokens, skip_special_tokens=True)

    @staticmethod
    def _step(row: torch.Tensor, token: int, top_k: int) -> tuple[float, dict[int, float]]:
        top = row.topk(top_k)
        return float(row[token]), dict(zip(top.indices.tolist(), top.values.tolist(), strict=True))

    def _shown(self, tokens: list[int], steps: list[tuple], body: dict) -> dict:
        by_id = body.get("return_tokens_as_token_ids")

        def name(token: int) -> str:
            return f"token_id:{token}" if by_id else self.loaded.tokenizer.decode([token])

        def tops(entries: dict[int, float]) -> dict[str, float]:
            return {name(token): max(value, -9999.0) for token, value in entries.items()}

        return {
            "tokens": [name(token) for token in tokens],
            "token_logprobs": [value for value, _ in steps],
            "top_logprobs": [tops(entries) or None for _, entries in steps],
        }
