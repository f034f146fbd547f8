"""Loads what a run of TrustMargin stands on, and says in the file's header what that was."""

import hashlib
from collections.abc import Sequence
from typing import Final

from ....policies.answering import PromptWriter
from ....policies.trustmargin import ScoredViews
from ....tools.errors import InputError, UsageError
from ...loading import load_generator
from ...retrieval import load_retriever
from ...settings import Settings
from ..datasets.questions import Question
from .benchmark import Benchmark
from .corruption import random_passages
from .plan import Plan, plan_trials
from .rows import ArbitrationHeader

NOISE: Final = 2000
"""Random passages that every question's are drawn from."""


async def load_benchmark(
    settings: Settings, plan: Plan, questions: Sequence[Question]
) -> tuple[Benchmark, ArbitrationHeader]:
    """Load index and generator; `questions` are all of the file, also where a sample of them is run.

    Raises UsageError where something is missing or does not fit, CapabilityError where the generator cannot
    score given answers, InputError where random passages are wanted and none is found.
    """
    if settings.trustmargin.always is not None:
        raise UsageError("trustmargin.always leaves no choice to measure; unset it")
    chosen, retriever = settings.generator, load_retriever(settings.index)
    generator = load_generator(settings)
    # What the generator lacks is refused before the first question.
    PromptWriter(generator, settings.prompts)
    ScoredViews(generator, settings.prompts)
    texts = [question.text for question in questions]
    trials = plan_trials(plan)
    corrupting = any(trial.share for trial in trials)
    noise = await random_passages(retriever, texts, NOISE, plan.seed) if corrupting else ()
    if corrupting and not noise:
        raise InputError("no question finds a passage in the index, so that no random ones can be drawn")
    bench = Benchmark(
        retriever=retriever,
        generator=generator,
        prompts=settings.prompts,
        answer_tokens=chosen.answer_tokens,
        trustmargin=settings.trustmargin,
        trials=trials,
        passages=plan.passages,
        noise=noise,
        seed=plan.seed,
        at_once=plan.at_once,
    )
    return bench, _header(settings, plan, generator.capabilities.model, questions)


def _header(settings: Settings, plan: Plan, model: str, questions: Sequence[Question]) -> ArbitrationHeader:
    """Pipelines after the first and shares are not in it: a file goes on with more of them."""
    asked = "\n".join("\t".join((question.id, question.text, *question.answers)) for question in questions)
    return ArbitrationHeader(
        generator=f"{settings.generator.backend} {model}",
        prompts=_digest(settings.prompts.model_dump_json()),
        answer_tokens=settings.generator.answer_tokens,
        trustmargin=settings.trustmargin,
        source={
            "questions": _digest(asked),
            "index": _digest(settings.index.model_dump_json()),
            "pipeline": plan.pipelines[0],
            "passages": str(plan.passages),
            "seed": str(plan.seed),
        },
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
