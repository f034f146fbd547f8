"""From prompts to token ids and back: rendering, exactly one BOS, continuations, stop strings' tokens."""

from collections.abc import Sequence
from typing import Any, Protocol

from jinja2 import TemplateError

from ..errors import CapabilityError, InputError
from ..models.resolve import resolve
from ..types import Prompt


class Encoding(Protocol):
    """What a generator needs of a tokenizer; the methods may be called from several threads at once."""

    has_chat_template: bool
    control_tokens: tuple[str, ...]
    bos: int | None

    def prompt_ids(self, prompt: Prompt) -> tuple[int, ...]:
        """The ids of a prompt, with exactly one BOS at the start where the tokenizer has one.

        Raises CapabilityError where the chat template is missing or refuses the prompt.
        """
        ...

    def text_ids(self, text: str) -> tuple[int, ...]:
        """The ids of a text on its own, without special tokens; () for ""."""
        ...

    def text(self, ids: Sequence[int]) -> str:
        """The text of generated ids."""
        ...


def one_bos(ids: tuple[int, ...], bos: int | None) -> tuple[int, ...]:
    """`ids` with exactly one BOS in front, as they are where there is none to put."""
    if bos is None:
        return ids
    # Templates write their own BOS or none, so whatever stands there is replaced by one.
    start = 0
    while start < len(ids) and ids[start] == bos:
        start += 1
    return (bos, *ids[start:])


class PromptEncoder:
    """Renders prompts for one tokenizer. Safe to call from several threads at once."""

    def __init__(self, tokenizer: Any, model: str) -> None:
        self._tokenizer = tokenizer
        self._model = model
        self.bos: int | None = tokenizer.bos_token_id
        self.has_chat_template = bool(tokenizer.chat_template)
        added = [str(token) for token in tokenizer.added_tokens_decoder.values()]
        # Some vocabularies add runs of white space as tokens; those steer nothing.
        found = [token for token in (*added, *tokenizer.all_special_tokens) if token.strip()]
        self.control_tokens: tuple[str, ...] = tuple(dict.fromkeys(found))

    def prompt_ids(self, prompt: Prompt) -> tuple[int, ...]:
        """The ids of a prompt, with exactly one BOS at the start where the tokenizer has one.

        Raises CapabilityError for a chat prompt without a chat template, or with a system text that the
        template refuses; InputError for an empty prompt where there is no BOS: nothing could follow on it.
        """
        ids = one_bos(
            self.text_ids(prompt.text if prompt.style == "completion" else self._chat(prompt)), self.bos
        )
        if not ids:
            raise InputError(f"the prompt is empty, and {self._model} has no token that begins one")
        return ids

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


def local_encoding(model: str) -> PromptEncoder:
    """The tokenizer of `model` alone, without its weights: a catalogue name, folder, GGUF file or hub name.

    Raises ModelMissing or InputError.
    """
    from transformers import AutoTokenizer  # noqa: PLC0415  an extra of its own

    folder = resolve(model)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{folder} holds no tokenizer: {(str(error).splitlines() or [''])[0][:200]}"
        ) from error
    return PromptEncoder(tokenizer, model)
