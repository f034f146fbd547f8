"""A generator that says what the test tells it to: for exact numbers and for faults no real model shows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sufficit.tools.types import Capabilities, Generation, Prompt, Rollout

Steps = tuple[tuple[float, ...], ...]


def generation(text: str, logprobs: tuple[float, ...] | None = None) -> Generation:
    """A generation of `text`, one token a word, each of log-probability -1 unless told."""
    words = text.split()
    values = (-1.0,) * len(words) if logprobs is None else logprobs
    return Generation(text, tuple(range(len(values))), values, "stop", prompt_tokens=0)


def capabilities(**changes: object) -> Capabilities:
    values: dict[str, object] = {
        "model": "scripted",
        "max_top_k": 1000,
        "context_tokens": 8192,
        "scores_prompts": True,
        "hidden_states": False,
        "has_chat_template": True,
        "control_tokens": ("<|im_start|>", "<|im_end|>"),
    }
    return Capabilities(**(values | changes))


@dataclass
class ScriptedGenerator:
    """`answer`, `steps` and `logprobs` say what a prompt gets; `calls` lists (method, prompts) as they came.

    A token is a word between white space.
    """

    answer: Callable[[Prompt], str] = lambda prompt: "scripted"
    steps: Callable[[Prompt], Steps] = lambda prompt: ((0.0,),)
    logprobs: Callable[[Prompt, str], tuple[float, ...]] = lambda prompt, continuation: (-1.0,)
    capabilities: Capabilities = field(default_factory=capabilities)
    calls: list[tuple[str, tuple[Prompt, ...]]] = field(default_factory=list)

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        self.calls.append(("generate", tuple(prompts)))
        return [generation(self.answer(prompt)) for prompt in prompts]

    async def rollout(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        self.calls.append(("rollout", tuple(prompts)))
        return [Rollout(generation(self.answer(prompt)), self.steps(prompt)) for prompt in prompts]

    async def score(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[float, ...]]:
        self.calls.append(("score", (prompt,)))
        return [self.logprobs(prompt, continuation) for continuation in continuations]

    def count_tokens(self, text: str) -> int:
        return len(text.split())
