"""The values that cross the floors: passages, prompts, and what a generator returns for them.

All are frozen. They are validated where they enter (readers of corpora, settings, HTTP) and trusted inside.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple


class PassageKey(NamedTuple):
    """Identity of a passage: the document it was cut from, and its id there."""

    source: str
    id: str


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrievable piece of text.

    `source` names the document the passage was cut from; passages with the same source are rejoined by the
    content reader (RINSE, section 4). `score` is the retriever's, higher is better, None before retrieval.
    `metadata` may hold `start` and `end`, character offsets into the source document.
    """

    id: str
    text: str
    title: str = ""
    source: str = ""
    url: str | None = None
    score: float | None = None
    metadata: Mapping[str, str | int | float] = field(default_factory=dict)

    @property
    def key(self) -> PassageKey:
        """(source, id): two passages with the same key are the same passage."""
        return PassageKey(self.source, self.id)


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a web search. Title and snippet are what the engine says, "" where it says nothing."""

    url: str
    title: str = ""
    snippet: str = ""


PageKind = Literal["html", "text", "pdf"]


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was fetched.

    `url` is where it was found at the end of all redirects; `content` its unpacked bytes, cut at the
    fetcher's limit if `truncated`; `charset` the header's, None where it names none.
    """

    url: str
    kind: PageKind
    content: bytes
    charset: str | None = None
    truncated: bool = False


PromptStyle = Literal["completion", "chat"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a generator reads.

    `text` is the whole prompt (`completion`) or the user turn (`chat`); `system` is used by `chat` only.
    Generation ends before any of the `stop` strings, as it does at the model's end-of-sequence token.
    `lead` is what stands between the prompt and an answer (a space after ``Answer:``, nothing after a chat
    header): a continuation to be scored is `lead + answer`.
    """

    text: str
    style: PromptStyle = "completion"
    system: str = ""
    stop: tuple[str, ...] = ()
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Generation:
    """A greedy answer.

    `text` is stripped and ends before the stop string. `token_ids` and `logprobs` (natural log, one per
    token) leave out the end-of-sequence or stop token. `finish` is `stop` or `length`.
    """

    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish: Literal["stop", "length"]
    prompt_tokens: int

    @property
    def mean_logprob(self) -> float | None:
        """Mean token log-probability; None for an empty answer."""
        return sum(self.logprobs) / len(self.logprobs) if self.logprobs else None


@dataclass(frozen=True, slots=True)
class Rollout:
    """A greedy rollout with the top-K log-probabilities of every step.

    `steps[t]` holds at most K natural-log probabilities of step t, descending; missing and -inf entries are
    left out. The step that emits the end-of-sequence or stop token is included, so len(steps) is the
    effective length T of IGP section 3.2. `generation` is the answer the same rollout wrote.
    """

    generation: Generation
    steps: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a generator can do; asked once, at start.

    `max_top_k`: largest K of `rollout`. `context_tokens`: longest prompt plus answer. `control_tokens`:
    strings that its tokenizer reads as special tokens, to be escaped in retrieved text. `has_chat_template`:
    whether prompts of style `chat` are possible. `why_no_scores`: where `scores_prompts` is False, what
    stands in the way and which setting to change.
    """

    model: str
    max_top_k: int
    context_tokens: int
    scores_prompts: bool
    hidden_states: bool
    has_chat_template: bool
    control_tokens: tuple[str, ...]
    why_no_scores: str = ""
