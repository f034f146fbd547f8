"""The small protocols behind which the outside world sits. All are async; batches in, batches out."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .types import Capabilities, Generation, Hit, Page, Passage, PassageKey, Prompt, Rollout


class Retriever(Protocol):
    """Finds passages."""

    async def search(self, query: str, k: int) -> list[Passage]:
        """At most `k` passages, best first, each with its score. A query without known terms gives []."""
        ...


class Index(Retriever, Protocol):
    """A retriever that can be written to. Every write is durable when the call returns."""

    async def add(self, passages: Sequence[Passage]) -> int:
        """Add passages; the same (source, id) replaces. Returns the count after."""
        ...

    async def delete(self, keys: Sequence[PassageKey]) -> int:
        """Delete passages; returns how many there were."""
        ...

    async def count(self) -> int:
        """Number of passages."""
        ...


class WebSearch(Protocol):
    """Finds pages."""

    async def search(self, query: str, k: int) -> list[Hit]:
        """At most `k` hits, best first, no URL twice. Raises ToolError where the search fails."""
        ...


class Fetcher(Protocol):
    """Gets pages."""

    async def fetch(self, url: str) -> Page:
        """The page. Raises FetchRefused for what must not be fetched, FetchFailed for what cannot be."""
        ...


class Extractor(Protocol):
    """Reads pages."""

    async def extract(self, page: Page) -> list[Passage]:
        """The page's passages in order, [] if it says nothing. Raises ExtractFailed."""
        ...


class Generator(Protocol):
    """A causal language model that answers greedily and shows its probabilities."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; fixed after start."""
        ...

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        """Greedy answers, one a prompt, of at most `max_tokens` tokens."""
        ...

    async def rollout(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        """Greedy rollouts with the `top_k` log-probabilities of every step.

        Raises CapabilityError if `top_k` exceeds `capabilities.max_top_k`.
        """
        ...

    async def score(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[float, ...]]:
        """Teacher-forced natural-log probabilities of every token of each continuation after `prompt`.

        A continuation is tokenised on its own, without special tokens, and appended to the prompt's ids.
        An empty continuation gives ().
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` on its own, without special tokens."""
        ...


class Sampler(Protocol):
    """A causal language model that draws answers at random."""

    async def sample(
        self, prompts: Sequence[Prompt], max_tokens: int, temperature: float, seed: int
    ) -> list[Generation]:
        """One answer a prompt, of at most `max_tokens` tokens, each token drawn at `temperature` > 0.

        The same prompts and seed give the same answers; equal prompts in one call are drawn independently.
        """
        ...


class Encoder(Protocol):
    """A causal language model read at its hidden states."""

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer, stored in artifacts."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; its control tokens are escaped in what it reads."""
        ...

    @property
    def depth(self) -> int:
        """Number of transformer blocks: layers run from 0, the embedding, to `depth`, the last block."""
        ...

    async def states(self, prompts: Sequence[Prompt], layers: Sequence[int]) -> NDArray[np.float32]:
        """Final-token hidden states after each of `layers`, float32, shape (layers, prompts, width).

        One forward pass however many layers are asked for.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` on its own, without special tokens."""
        ...


class Reranker(Protocol):
    """Scores how well texts answer queries."""

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer, stored in artifacts."""
        ...

    async def score(self, queries: Sequence[str], texts: Sequence[str]) -> NDArray[np.float32]:
        """Scores of every query with every text, higher is better; float32, shape (queries, texts)."""
        ...


class SpanReader(Protocol):
    """Finds the best answer span of each text, against the option that there is none."""

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer, stored in artifacts."""
        ...

    async def margins(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Best legal span logit minus no-answer logit of every text; float32, shape (texts,)."""
        ...


class JointReader(Protocol):
    """Reads a question and all texts together."""

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer, stored in artifacts."""
        ...

    async def sufficiency(self, question: str, texts: Sequence[str]) -> float:
        """One logit, up to a constant, for at least one text; the same for every order of the texts."""
        ...


class WordPieces(Protocol):
    """A WordPiece tokenizer, as the content reader needs it."""

    def pieces(self, text: str) -> list[str]:
        """The pieces of `text`, lower-cased, continuation pieces marked by `##`, without special tokens."""
        ...

    def join(self, pieces: Sequence[str]) -> str:
        """Readable text of consecutive pieces."""
        ...
