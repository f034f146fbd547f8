"""What judging an answer costs, as ratios within one run on the embedded model.

    python bench/generators.py [REPEATS]

Six TrustMargin likelihoods against six plain forward passes; Direct + RAG + TrustMargin against RAG alone;
IGP over ten passages against one rollout at a time, with the paper's prompts, whose rollouts are of 32 steps.
With worked examples a rollout ends after some three steps, and ten of them are mostly the reading of ten
passages, which no batch makes cheaper: that ratio has no target. What is compared is processor time, so that
other work on the machine counts for less; each side runs REPEATS times (4), in turn, and its fastest run
stands. Exits with 1 where a target is missed.
"""

import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Literal

import sufficit.controller.environment  # noqa: F401  before torch
import torch
from sufficit.policies.answering import AnswerPrompts, PromptWriter
from sufficit.policies.igp import IGPSettings, ProbePrompts
from sufficit.policies.probing import RolloutProbe
from sufficit.policies.trustmargin import ScoredViews, TrustMarginSettings, trust_margin
from sufficit.policies.types import Likelihoods
from sufficit.tools.generators.transformers import PREFIX_TOKENS, TransformersGenerator
from sufficit.tools.models import store
from sufficit.tools.models.compute import available_threads
from sufficit.tools.types import Generation, Passage, Prompt

MODEL = "smollm2-135m-instruct"
QUESTION = "Who built the harbour of Vell?"
ANSWER_TOKENS = 32
Profile = Literal["chat", "worked_examples"]
PLACES = ("Vell", "Orrin", "Tarn", "Mirl", "Dask", "Ulmen", "Pryd", "Kest", "Brann", "Soll")
WORKS = ("harbour", "lighthouse", "bridge", "market hall", "town wall", "mill", "library", "canal")
NAMES = ("Mara Oduya", "Jonas Brack", "Ilse Tamm", "Peter Onwu", "Lena Sorge", "Karim Bale", "Ada Frome")


def passages(count: int, sentences: int) -> list[Passage]:
    """Invented passages of about 20 tokens a sentence; the first holds the answer."""
    dice = random.Random(0)

    def sentence() -> str:
        place, work, name = dice.choice(PLACES), dice.choice(WORKS), dice.choice(NAMES)
        return f"The {work} of {place} was built by {name} in {dice.randrange(1600, 1950)}."

    texts = [" ".join(sentence() for _ in range(sentences)) for _ in range(count)]
    texts[0] = f"The harbour of Vell was built by Mara Oduya in 1874. {texts[0]}"
    return [Passage(str(n), text, title=f"Page {n}", source=f"{n}.md") for n, text in enumerate(texts)]


def plain_views(
    generator: TransformersGenerator,
    writer: PromptWriter,
    question: str,
    passages: Sequence[Passage],
    answers: tuple[Generation, Generation],
) -> Likelihoods:
    """TrustMargin's six likelihoods by as many forward passes, each over the whole of prompt and answer."""
    prompts = (
        writer.question_only(question),
        writer.question_context(question, passages),
        writer.context_only(passages),
    )
    return Likelihoods(*(_pass(generator, prompt, answer) for prompt in prompts for answer in answers))


def _pass(generator: TransformersGenerator, prompt: Prompt, answer: Generation) -> float:
    encoder, model = generator._encoder, generator._loaded.model
    ids, tokens = encoder.prompt_ids(prompt), encoder.text_ids(prompt.lead + answer.text)
    with torch.inference_mode():
        logits = model(torch.tensor([[*ids, *tokens]]), use_cache=False).logits[0]
    logprobs = torch.log_softmax(logits[len(ids) - 1 : -1].float(), dim=-1)
    return float(logprobs.gather(1, torch.tensor(tokens)[:, None]).mean())


class Bench:
    """The embedded model, and the same one without any memory of earlier prompts."""

    def __init__(self) -> None:
        store.install(MODEL)
        self.generator = TransformersGenerator.load(MODEL)
        self.prompts = AnswerPrompts()
        self.writer = PromptWriter(self.generator, self.prompts)
        self.passages = passages(20, 5)
        self.answers = self._answer("Mara Oduya"), self._answer("Jonas Brack of Orrin")

    @staticmethod
    def _answer(text: str) -> Generation:
        return Generation(text, (), (), "stop", 0)

    def forgetful(self, prefix_tokens: int = PREFIX_TOKENS) -> TransformersGenerator:
        """The same weights, no prompt remembered yet."""
        return TransformersGenerator(
            self.generator._loaded,
            threads=available_threads(),
            batch_tokens=8192,
            prefix_tokens=prefix_tokens,
        )

    # --- six likelihoods ---------------------------------------------------------------------------------

    async def plain(self) -> Likelihoods:
        """Six forward passes over the whole of prompt and answer."""
        return plain_views(self.generator, self.writer, QUESTION, self.passages, self.answers)

    async def shared(self, generator: TransformersGenerator) -> Likelihoods:
        """As TrustMargin asks for them."""
        views = ScoredViews(generator, self.prompts)
        return await views.likelihoods(QUESTION, self.passages, *self.answers)

    # --- the whole decision ------------------------------------------------------------------------------

    async def rag(self, generator: TransformersGenerator) -> Generation:
        """The RAG answer alone."""
        prompt = self.writer.question_context(QUESTION, self.passages)
        return (await generator.generate([prompt], ANSWER_TOKENS))[0]

    async def judged(self, generator: TransformersGenerator) -> Likelihoods:
        """The closed-book answer, the RAG answer, and their six likelihoods."""
        prompt = self.writer.question_only(QUESTION)
        direct = (await generator.generate([prompt], ANSWER_TOKENS))[0]
        rag = await self.rag(generator)
        views = ScoredViews(generator, self.prompts)
        return await views.likelihoods(QUESTION, self.passages, direct, rag)

    # --- probing -----------------------------------------------------------------------------------------

    async def probe(
        self, generator: TransformersGenerator, profile: Profile, *, at_once: bool
    ) -> list[float]:
        """The uncertainties of ten passages, in one call or in ten."""
        probe = RolloutProbe(generator, IGPSettings(prompts=ProbePrompts(profile=profile)))
        few = passages(10, 6)
        calls = [few] if at_once else [[passage] for passage in few]
        found = [candidate for call in calls for candidate in await probe.uncertainties(QUESTION, call)]
        return [candidate.uncertainty or 0.0 for candidate in found]


async def timed(call: Callable[[], Awaitable[object]]) -> tuple[float, object]:
    """Seconds of processor time, and the result."""
    start = time.process_time()
    result = await call()
    return time.process_time() - start, result


async def fastest(repeats: int, *calls: Callable[[], Awaitable[object]]) -> list[tuple[float, object]]:
    """Each call's fastest run; the calls take turns."""
    best: list[tuple[float, object]] = [(float("inf"), None)] * len(calls)
    for _ in range(repeats):
        for place, call in enumerate(calls):
            best[place] = min(best[place], await timed(call), key=lambda run: run[0])
    return best


def line(name: str, value: float, target: str, met: bool) -> bool:
    """Print one ratio against its target."""
    print(f"{name:<58} {value:6.2f}   target {target:<8} {'met' if met else 'MISSED'}", flush=True)
    return met


async def main(repeats: int) -> bool:
    """All ratios; True where every target is met."""
    bench = Bench()
    tokens = bench.generator.count_tokens(bench.writer.context_only(bench.passages).text)
    print(f"{MODEL}, {available_threads()} threads, {tokens} tokens of context", flush=True)

    async def warm() -> tuple[float, object]:
        generator = bench.forgetful()
        await bench.rag(generator)
        return await timed(lambda: bench.shared(generator))

    await bench.shared(bench.forgetful())  # the first run of a process is slow
    (plain, by_pass), (cold, by_prefix) = await fastest(
        repeats, bench.plain, lambda: bench.shared(bench.forgetful())
    )
    after_rag = min([(await warm())[0] for _ in range(repeats)])
    weight = TrustMarginSettings().weight
    off = abs(trust_margin(by_pass, weight) - trust_margin(by_prefix, weight))
    met = [
        line("six plain passes / six likelihoods", plain / cold, ">= 4", plain / cold >= 4),
        line("  difference of the margins", off, "<= 0.001", off <= 1e-3),
        line(
            "  the same after RAG generation, as in a run", plain / after_rag, ">= 4", plain / after_rag >= 4
        ),
    ]
    (alone, _), (judged, _) = await fastest(
        repeats, lambda: bench.rag(bench.forgetful()), lambda: bench.judged(bench.forgetful())
    )
    met.append(line("Direct + RAG + TrustMargin / RAG", judged / alone, "<= 1.3", judged / alone <= 1.3))
    profiles: tuple[tuple[Profile, float], ...] = (("chat", 3.0), ("worked_examples", 0.0))
    for profile, target in profiles:
        (one_by_one, ones), (together, many) = await fastest(
            max(1, repeats // 2),
            partial(bench.probe, bench.forgetful(0), profile, at_once=False),
            partial(bench.probe, bench.forgetful(), profile, at_once=True),
        )
        ratio = one_by_one / together
        off = max(abs(a - b) for a, b in zip(ones, many, strict=True))
        met.append(
            line(f"ten rollouts one by one / one call, {profile}", ratio, f">= {target:g}", ratio >= target)
        )
        met.append(line("  difference of the uncertainties", off, "<= 0.001", off <= 1e-3))
        print(f"  processor seconds: one by one {one_by_one:.1f}, together {together:.1f}")
    print(
        f"  processor seconds: plain {plain:.1f}, shared {cold:.1f}, after RAG {after_rag:.1f}, "
        f"RAG alone {alone:.1f}, judged {judged:.1f}"
    )
    return all(met)


if __name__ == "__main__":
    raise SystemExit(not asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)))
