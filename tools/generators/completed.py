"""One completion as an engine gave it, and the answer that is in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ..errors import GenerationFailed
from ..types import Generation
from .encoding import Encoding

UNKNOWN: Final = -1
"""The id of a token that was shown only as text, and whose text is not one token."""

Encode = Callable[[str], tuple[int, ...]]
"""The ids of a text on its own."""


@dataclass(frozen=True, slots=True)
class Completed:
    """Parallel per token, the end-of-sequence token included where the engine shows it.

    `ids` are None where tokens are shown as text only; `logprobs` are None where they are missing; `steps`
    hold the finite entries, descending.
    """

    text: str
    finish: Literal["stop", "length"]
    tokens: tuple[str, ...]
    ids: tuple[int, ...] | None
    logprobs: tuple[float | None, ...]
    steps: tuple[tuple[float, ...], ...]
    prompt_tokens: int | None
    request_id: str

    def last_logprobs(self, count: int) -> tuple[float, ...]:
        """Those of the last `count` tokens. Raises GenerationFailed where one is missing."""
        return self._present(self.logprobs[len(self.logprobs) - count :])

    def token_ids(self, encode: Encode) -> tuple[int, ...]:
        """The tokens' ids; UNKNOWN for text that is no single token, or a part of a character."""
        if self.ids is not None:
            return self.ids
        encoded = (() if "\ufffd" in token else encode(token) for token in self.tokens)
        return tuple(ids[0] if len(ids) == 1 else UNKNOWN for ids in encoded)

    def generation(self, encoding: Encoding, stop: Sequence[str], prompt_tokens: int) -> Generation:
        """The answer. Raises GenerationFailed where one of its tokens has no log-probability."""
        ids = self.token_ids(encoding.text_ids)

        def text_of(count: int) -> str:
            if not count:
                return ""
            return "".join(self.tokens[:count]) if self.ids is None else encoding.text(ids[:count])

        text, kept = self._answer(text_of, stop)
        logprobs = self._present(self.logprobs[:kept])
        return Generation(text.strip(), ids[:kept], logprobs, self.finish, prompt_tokens)

    def _answer(self, text_of: Callable[[int], str], stop: Sequence[str]) -> tuple[str, int]:
        """The answer's text, before any stop string, and how many of the tokens belong to it.

        `text_of(n)` is the text of the first n tokens. The token that completes a stop string does not
        belong, nor does the end-of-sequence token, whether it is shown as text or as nothing.
        """
        kept = len(self.tokens)
        if self.finish == "length":
            return self.text, kept
        whole = text_of(kept)
        found = [position for string in stop if (position := whole.find(string)) >= 0]
        text = whole[: min(found)] if found else self.text
        while kept and len(text_of(kept)) > len(text):
            kept -= 1
        while not found and kept and len(text_of(kept - 1)) == len(text_of(kept)):
            kept -= 1
        return text, kept

    def _present(self, logprobs: Sequence[float | None]) -> tuple[float, ...]:
        values = tuple(value for value in logprobs if value is not None)
        if len(values) < len(logprobs):
            raise GenerationFailed("a token came without a log-probability", self.request_id)
        return values
