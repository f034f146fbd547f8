"""What scoring an evidence set costs before anything is generated, against one RAG answer, in one run.

    python bench/sufficiency.py [RECORDS] [KEY=VALUE ...]

Median time of RINSE's readers, as the settings say, over RECORDS (20) records of five passages of 100 words,
each with a question and passages of its own, so that nothing is remembered from one to the next; against the
median time of a RAG answer of 24 tokens over the same records by the embedded generator. Both are given; held
to the target is processor time, for which other work on the machine counts less. The two take turns. Also
counts the pairs that the reranker reads twice, which must be none. Exits with 1 where a target is missed.
"""

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from statistics import median
from typing import NamedTuple, TypeVar

import numpy as np
import sufficit.controller.environment  # noqa: F401  before torch
from numpy.typing import NDArray
from sufficit.controller.loading import load_readers
from sufficit.controller.settings import Settings, load
from sufficit.policies.answering import AnswerPrompts, PromptWriter
from sufficit.policies.rinse.scorer import build_rinse
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.models import store
from sufficit.tools.protocols import Reranker
from sufficit.tools.types import Passage

MODEL = "smollm2-135m-instruct"
ANSWER_TOKENS = 24
PASSAGES = 5
WORDS = 100
TARGET = 0.25
T = TypeVar("T")
PLACES = ("Vell", "Orrin", "Tarn", "Mirl", "Dask", "Ulmen", "Pryd", "Kest", "Brann", "Soll")
WORKS = ("harbour", "lighthouse", "bridge", "market hall", "town wall", "mill", "library", "canal")
NAMES = ("Mara Oduya", "Jonas Brack", "Ilse Tamm", "Peter Onwu", "Lena Sorge", "Karim Bale", "Ada Frome")


class Watched:
    """A reranker that counts how often each pair is read."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self.read: Counter[tuple[str, str]] = Counter()

    @property
    def fingerprint(self) -> str:
        """The reranker's own."""
        return self._reranker.fingerprint

    async def score(self, queries: Sequence[str], texts: Sequence[str]) -> NDArray[np.float32]:
        """The reranker's own scores."""
        self.read.update((query, text) for query in queries for text in texts)
        return await self._reranker.score(queries, texts)


def record(number: int) -> tuple[str, list[Passage]]:
    """An invented question, and five invented passages of 100 words."""
    dice = random.Random(number)

    def sentence() -> str:
        place, work, name = dice.choice(PLACES), dice.choice(WORKS), dice.choice(NAMES)
        return f"The {work} of {place} was built by {name} in {dice.randrange(1600, 1950)}."

    texts = [" ".join(" ".join(sentence() for _ in range(20)).split()[:WORDS]) for _ in range(PASSAGES)]
    passages = [Passage(f"{number}/{n}", text, source=f"{number}/{n}.md") for n, text in enumerate(texts)]
    return f"Who built the {dice.choice(WORKS)} of {dice.choice(PLACES)} in year {number}?", passages


class Spent(NamedTuple):
    """Seconds of processor time, which a busy machine does not change, and seconds on the clock."""

    processor: float
    clock: float


async def timed(work: Awaitable[T]) -> tuple[Spent, T]:
    """What the work took, and its result."""
    processor, clock = time.process_time(), time.perf_counter()
    result = await work
    return Spent(time.process_time() - processor, time.perf_counter() - clock), result


async def measured(
    records: int, settings: Settings
) -> tuple[str, list[Spent], list[Spent], list[int], Watched]:
    """The readers' names, and over all records: what scoring and writing took, tokens written."""
    readers = load_readers(settings)
    watched = Watched(readers.reranker)
    rinse = build_rinse(
        readers.artifact, readers.wordpieces, watched, readers.encoder, span=readers.span, joint=readers.joint
    )
    generator = TransformersGenerator.load(MODEL, prefix_tokens=0)
    # Without a stop string an answer is as long as it may be.
    writer = PromptWriter(generator, AnswerPrompts(stop=()))
    scoring, writing, written = [], [], []
    for number in range(records + 1):
        question, passages = record(number)
        prompt = writer.question_context(question, passages)
        spent, _ = await timed(rinse.score(question, passages))
        wrote, answers = await timed(generator.generate([prompt], ANSWER_TOKENS))
        if number:  # the first run of a process is slow
            scoring.append(spent)
            writing.append(wrote)
            written.append(len(answers[0].token_ids))
    return " + ".join(sorted(rinse.readers)), scoring, writing, written, watched


async def main(records: int, settings: Settings) -> bool:
    """Both medians and their ratio; True where every target is met."""
    store.install(MODEL)
    names, scoring, writing, written, watched = await measured(records, settings)
    twice = sum(count > 1 for count in watched.read.values())
    print(
        f"RINSE ({names}), median of {records} records, against a RAG answer of {median(written):.0f} tokens"
    )
    ratios = []
    for kind in Spent._fields:
        score, write = (median(getattr(one, kind) for one in took) for took in (scoring, writing))
        ratios.append(score / write)
        print(f"{kind}: {1000 * score:.0f} ms a record, {1000 * write:.0f} ms an answer, {ratios[-1]:.3f}")
    ratio = ratios[0]
    met = "met" if ratio <= TARGET else "MISSED"
    print(f"scoring / answering: {ratio:.3f}   target <= {TARGET:g}   {met}")
    print(f"pairs asked of the reranker twice: {twice}   target 0   {'MISSED' if twice else 'met'}")
    return ratio <= TARGET and not twice


if __name__ == "__main__":
    counts = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    chosen = load([argument for argument in sys.argv[1:] if not argument.isdigit()]).settings
    raise SystemExit(not asyncio.run(main(counts[0] if counts else 20, chosen)))
