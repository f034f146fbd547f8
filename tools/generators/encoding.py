"""From prompts to token ids and back: rendering, exactly one BOS, continuations, stop strings' tokens."""

from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateError

from ..errors import CapabilityError
from ..types import Prompt


class PromptEncoder:
    """Renders prompts for one tokenizer. Safe to call from several threads at once."""

    def __init__(self, tokenizer: Any, model: str) -> None:
        self._tokenizer = tokenizer
        self._model = model
        self._bos: int | None = tokenizer.bos_token_id
        self.has_chat_template = bool(tokenizer.chat_template)
        added = [str(token) for token in tokenizer.added_tokens_decoder.values()]
        # Some vocabularies add runs of white space as tokens; those steer nothing.
        found = [token for token in (*added, *tokenizer.all_special_tokens) if token.strip()]
        self.control_tokens: tuple[str, ...] = tuple(dict.fromkeys(found))

    def prompt_ids(self, prompt: Prompt) -> tuple[int, ...]:
        """The ids of a prompt, with exactly one BOS at the start where the tokenizer has one.

        Raises CapabilityError for a chat prompt without a chat template, or with a system text that the
        template refuses.
        """
        ids = self.text_ids(prompt.text if prompt.style == "completion" else self._chat(prompt))
        if self._bos is None:
            return ids
        # Templates write their own BOS or none, so whatever stands there is replaced by one.
        start = 0
        while start < len(ids) and ids[start] == self._bos:
            start += 1
        return (self._bos, *ids[start:])

    def text_ids(self, text: str) -> tuple[int, ...]:
        """The ids of a text on its own, without special tokens; () for ""."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False)) if text else ()

    def text(self, ids: Sequence[int]) -> str:
        """The text of generated ids, special tokens left out."""
        decoded: str = self._tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return decoded

    def _chat(self, prompt: Prompt) -> str:
        if not self.has_chat_template:
            raise CapabilityError(
                f"{self._model} has no chat template; use prompts of style completion (worked examples)"
            )
        messages = [{"role": "system", "content": prompt.system}] if prompt.system else []
        messages.append({"role": "user", "content": prompt.text})
        try:
            rendered: str = self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
        except TemplateError as error:
            raise CapabilityError(
                f"the chat template of {self._model} refuses the prompt: {error}"
            ) from error
        return rendered
