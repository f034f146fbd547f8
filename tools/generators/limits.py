"""What a request asks for against what a generator can do; refused before anything is computed."""

from ..errors import CapabilityError, InputError
from ..types import Capabilities


def check_length(tokens: int, capabilities: Capabilities) -> None:
    """Raises InputError where a prompt and its answer exceed the context."""
    if tokens > capabilities.context_tokens:
        raise InputError(
            f"prompt and answer need {tokens} tokens, over the {capabilities.context_tokens} that "
            f"{capabilities.model} can read; shorten the question or lower the context's token limit"
        )


def answer_room(prompt_tokens: int, max_tokens: int, capabilities: Capabilities) -> int:
    """Tokens that an answer may have: `max_tokens`, or what the prompt leaves of the context if that is less.

    Raises InputError where that is nothing.
    """
    if max_tokens < 1:
        raise InputError(f"max_tokens = {max_tokens} leaves nothing to generate; it must be at least 1")
    check_length(prompt_tokens + 1, capabilities)
    return min(max_tokens, capabilities.context_tokens - prompt_tokens)


def check_top_k(top_k: int, capabilities: Capabilities) -> None:
    """Raises CapabilityError for a K outside [1, max_top_k]."""
    if not 1 <= top_k <= capabilities.max_top_k:
        raise CapabilityError(
            f"top_k = {top_k}, but {capabilities.model} can show 1 to {capabilities.max_top_k}"
        )
