"""How the prompting scorers ask: one template each, question and passages quoted as data."""

import math
from collections.abc import Sequence
from dataclasses import replace

from ...tools.errors import ModelOutputError, SettingsError
from ...tools.protocols import Generator
from ...tools.types import Capabilities, Passage, Prompt
from ..quoting import DEFAULT_FRAME, context_block, fill, quote

CHARACTERS = 1600
"""Characters of a passage that a prompt shows, as in RINSE Table 1; a cut passage is noted with the score."""


class PromptTemplate:
    """A template with its places, for models with these capabilities.

    Prompts are of style chat where the model has a chat template, of style completion elsewhere or where
    `completion` asks for it. Raises SettingsError where a place of the template is missing.
    """

    def __init__(
        self,
        capabilities: Capabilities,
        template: str,
        places: Sequence[str],
        *,
        characters: int = CHARACTERS,
        completion: bool = False,
    ) -> None:
        missing = [place for place in places if f"{{{place}}}" not in template]
        if missing:
            raise SettingsError(f"the prompt template lacks {{{missing[0]}}}; it needs {', '.join(places)}")
        self._control_tokens = capabilities.control_tokens
        self._chat = capabilities.has_chat_template and not completion
        self._template = template
        self._characters = characters

    def prompt(self, **values: str) -> Prompt:
        """The template filled with values that are quoted already."""
        text = fill(self._template, **values)
        return Prompt(text, "chat") if self._chat else Prompt(text, "completion", lead=" ")

    def quoted(self, text: str) -> str:
        """A question, an answer or a passage on one line, without control tokens or delimiters."""
        return quote(text, (*self._control_tokens, DEFAULT_FRAME.begin, DEFAULT_FRAME.end))

    def passage(self, passage: Passage) -> str:
        """Title and text of one passage, quoted and cut."""
        shown = self._cut(passage)
        return self.quoted(f"{shown.title}: {shown.text}" if shown.title else shown.text)

    def block(self, passages: Sequence[Passage]) -> str:
        """All passages as a numbered block, each cut."""
        return context_block([self._cut(passage) for passage in passages], self._control_tokens)

    def note(self, passages: Sequence[Passage]) -> str:
        """That passages are cut, "" where none is."""
        cut = any(len(passage.text) > self._characters for passage in passages)
        return f"passages cut to {self._characters} characters" if cut else ""

    def _cut(self, passage: Passage) -> Passage:
        return replace(passage, text=passage.text[: self._characters])


async def log_odds(
    generator: Generator, prompt: Prompt, positive: Sequence[str], negative: Sequence[str]
) -> float:
    """log Σ p(first token of a positive) - log Σ p(first token of a negative), right after `prompt`.

    Raises ModelOutputError where a probability is not a finite logarithm.
    """
    scores = await generator.score(prompt, [*positive, *negative])
    firsts = [tokens[0] for tokens in scores if tokens]
    if len(firsts) < len(scores) or not all(map(math.isfinite, firsts)):
        raise ModelOutputError("the generator gave no finite log-probability for an answer; check its dtype")
    return _log_sum(firsts[: len(positive)]) - _log_sum(firsts[len(positive) :])


def _log_sum(values: Sequence[float]) -> float:
    peak = max(values)
    return peak + math.log(sum(math.exp(value - peak) for value in values))


def spellings(word: str) -> tuple[str, ...]:
    """A word in lower case, capitalised and in capitals, each with and without a space before it."""
    cases = (word.lower(), word.capitalize(), word.upper())
    return tuple(f"{space}{case}" for space in ("", " ") for case in cases)
