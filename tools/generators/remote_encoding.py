"""The tokenizer of a server that has `/tokenize` and `/detokenize`, as vLLM does."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from ..errors import CapabilityError, GenerationFailed, SettingsError
from ..types import Prompt
from .client import Refused, ServerClient
from .encoding import one_bos

CACHED_TEXTS: Final = 4096

_COMMON_CONTROLS: Final = (
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"),
    *("<|start_header_id|>", "<|end_header_id|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"),
    *("<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<s>", "</s>", "[INST]", "[/INST]", "<|return|>"),
    *("<|start|>", "<|message|>", "<|channel|>", "<think>", "</think>", "<tool_call>", "</tool_call>"),
)
"""Control tokens of common models, for servers that do not list their own."""


class RemoteEncoding:
    """See Encoding. Every new text is one request, during which the calling thread waits.

    BOS and control tokens are the server's own where it gives `/tokenizer_info`; else BOS is what it puts
    before a text, and the control tokens are those of common models that it reads as one token.
    Raises SettingsError at construction where the server cannot tokenise.
    """

    def __init__(self, client: ServerClient, model: str) -> None:
        self._client = client
        self._model = model
        self._cached = lru_cache(CACHED_TEXTS)(self._text_ids)
        try:
            plain, special = self._text_ids("x"), self._ids({"prompt": "x"})
        except GenerationFailed as error:
            raise SettingsError(
                f"{client.url} cannot tokenise: {error}\n"
                "Set generator.tokenizer to the folder or name of the server's model"
            ) from error
        info = self._info()
        bos = info.get("bos_token")
        named = self._text_ids(str(bos.get("content") if isinstance(bos, dict) else bos)) if bos else ()
        before = special[: len(special) - len(plain)] if special[-len(plain) :] == plain else ()
        self.bos = next(iter(named if len(named) == 1 else before), None)
        self.control_tokens = self._controls(info)
        try:
            self._chat_ids(Prompt("x", style="chat"))
            self.has_chat_template = True
        except CapabilityError:
            self.has_chat_template = False

    def prompt_ids(self, prompt: Prompt) -> tuple[int, ...]:
        """See Encoding."""
        ids = self.text_ids(prompt.text) if prompt.style == "completion" else self._chat_ids(prompt)
        return one_bos(ids, self.bos)

    def text_ids(self, text: str) -> tuple[int, ...]:
        """See Encoding."""
        return self._cached(text) if text else ()

    def text(self, ids: Sequence[int]) -> str:
        """See Encoding. Special tokens may show."""
        reply = self._client.ask_now("/detokenize", {"model": self._model, "tokens": list(ids)})
        return str(reply.body.get("prompt", ""))

    def _text_ids(self, text: str) -> tuple[int, ...]:
        return self._ids({"prompt": text, "add_special_tokens": False})

    def _chat_ids(self, prompt: Prompt) -> tuple[int, ...]:
        messages = [{"role": "system", "content": prompt.system}] if prompt.system else []
        messages.append({"role": "user", "content": prompt.text})
        body = {"messages": messages, "add_generation_prompt": True, "add_special_tokens": False}
        try:
            return self._ids(body)
        except Refused as error:
            raise CapabilityError(
                f"{self._model} takes no such chat prompt; use prompts of style completion: {error}"
            ) from error

    def _ids(self, body: Mapping[str, Any]) -> tuple[int, ...]:
        reply = self._client.ask_now("/tokenize", {"model": self._model, **body})
        tokens = reply.body.get("tokens")
        if not isinstance(tokens, list) or not all(isinstance(token, int) for token in tokens):
            raise GenerationFailed(f"{self._client.url}/tokenize gave no token ids", reply.request_id)
        return tuple(tokens)

    def _info(self) -> Mapping[str, Any]:
        try:
            return self._client.ask_now("/tokenizer_info").body
        except Refused:
            return {}

    def _controls(self, info: Mapping[str, Any]) -> tuple[str, ...]:
        added = info.get("added_tokens_decoder")
        if isinstance(added, dict):
            contents = [str(t.get("content", "")) if isinstance(t, dict) else str(t) for t in added.values()]
            return tuple(dict.fromkeys(text for text in contents if text.strip()))
        return tuple(text for text in _COMMON_CONTROLS if len(self._text_ids(text)) == 1)
