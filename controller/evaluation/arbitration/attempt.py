"""One question under way: what it has reached when it ends, well or not, becomes its row."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ....policies.answering import AnswerPrompts
from ....policies.trustmargin import ScoredViews, TrustMargin, TrustMarginSettings
from ....policies.types import Verdict
from ....tools.errors import InputError, ModelOutputError, ToolError
from ....tools.normalisation import is_blank
from ....tools.protocols import Generator
from ....tools.types import Generation, Passage
from .rows import ArbitrationRow


@dataclass(slots=True)
class Attempt:
    """How far one question has come. What was not reached is None, `seconds` is wall-clock time by part."""

    generator: Generator
    prompts: AnswerPrompts
    direct: Generation | None = None
    rag: Generation | None = None
    read: tuple[Passage, ...] = ()
    verdict: Verdict | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    error: str = ""

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time that the block takes to `part`."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - began

    @contextmanager
    def failing_alone(self) -> Iterator[None]:
        """Keep what a question or a tool makes fail in the block; a setup that cannot work still ends all."""
        try:
            yield
        except (InputError, ModelOutputError, ToolError) as error:
            self.error = str(error).partition("\n")[0] or type(error).__name__

    async def judge(
        self, question: str, direct: Generation, rag: Generation, settings: TrustMarginSettings
    ) -> None:
        """Let the margins choose between both answers, `rag` having read what is in `read`."""
        arbiter = TrustMargin(ScoredViews(self.generator, self.prompts), settings)
        with self.timed("scoring"):
            self.verdict = await arbiter.choose(question, self.read, direct, rag)

    def row(self, name: str, question: str, answers: tuple[str, ...], variant: str = "") -> ArbitrationRow:
        """All of it as a row; `name` is the question's id, `answers` are the gold ones."""
        return ArbitrationRow(
            id=name,
            variant=variant,
            question=question,
            answers=answers,
            direct=self.direct.text if self.direct else None,
            rag=self.rag.text if self.rag else None,
            direct_tokens=self._tokens(self.direct),
            rag_tokens=self._tokens(self.rag),
            passages=len(self.read),
            verdict=self.verdict,
            seconds=self.seconds,
            error=self.error,
        )

    def _tokens(self, answer: Generation | None) -> int:
        """Length of an answer as it is scored."""
        if answer is None or is_blank(answer.text):
            return 0
        return self.generator.count_tokens(self.prompts.lead + answer.text)
