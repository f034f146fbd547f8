"""What TrustMargin plugs into (section 4.2): a pipeline that answers from passages it finds itself."""

from typing import Protocol

from ...tools.types import Generation, Passage

Answered = tuple[Generation, tuple[Passage, ...]]
"""A pipeline's answer, and the passages it stands on, in the order in which the prompt showed them."""


class Strategy(Protocol):
    """One RAG pipeline."""

    async def answer(self, question: str) -> Answered:
        """Answer `question`. Without passages the answer is the closed-book one.

        Raises InputError, ModelOutputError or ToolError where a tool cannot do its part.
        """
        ...
