"""Loads what a comparison of pruners stands on, and says in the file's header what that was."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....policies.probing import RolloutProbe
from ....tools.models.catalog import ENCODER
from ....tools.rerankers.biencoder import BiEncoderReranker
from ....tools.rerankers.cross_encoder import CrossEncoderReranker
from ....tools.retrievers.identity import index_hash
from ...loading import load_generator
from ...retrieval import load_retriever
from ...settings import Settings
from ..contrasts.scorers import artifact_key, load_rinse
from ..datasets.questions import Question
from .pruners import Method, Models
from .run import Bench, PruningHeader

Plan = Sequence[tuple[Method, int]]


@dataclass(frozen=True, slots=True)
class LoadedBench:
    """A bench, and the header of the file that it writes."""

    bench: Bench
    header: PruningHeader


def load_bench(
    settings: Settings,
    questions: Sequence[Question],
    candidates: int,
    plan: Callable[[Models], Plan],
    cross_encoder: str | None = None,
) -> LoadedBench:
    """Load index and models; `plan` names the methods that these models allow.

    Raises UsageError where something is missing or does not fit, CapabilityError where K does not.
    """
    chosen = settings.generator
    generator = load_generator(settings)
    rinse, artifact, _ = load_rinse(settings)
    models = Models(
        sufficiency=rinse,
        bi_encoder=BiEncoderReranker.load(ENCODER, device=chosen.device, threads=chosen.threads),
        cross_encoder=None
        if cross_encoder is None
        else CrossEncoderReranker.load(cross_encoder, device=chosen.device, threads=chosen.threads),
    )
    entries = tuple(plan(models))
    for method, top_m in entries:
        # Says before the first question, and before a file is there, what the generator lacks.
        RolloutProbe(generator, method.settings(settings.igp, top_m))
    bench = Bench(
        retriever=load_retriever(settings.index),
        generator=generator,
        models=models,
        igp=settings.igp,
        prompts=settings.prompts,
        answer_tokens=chosen.answer_tokens,
        candidates=candidates,
        plan=entries,
    )
    header = PruningHeader(
        generator=f"{chosen.backend} {generator.capabilities.model}",
        models={"bi-encoder": models.bi_encoder.fingerprint}
        | ({"cross-encoder": models.cross_encoder.fingerprint} if models.cross_encoder else {}),
        candidates=candidates,
        answer_tokens=chosen.answer_tokens,
        settings=_digest(settings, artifact_key(artifact), questions),
        plan=tuple((method.name, top_m) for method, top_m in entries),
    )
    return LoadedBench(bench, header)


def _digest(settings: Settings, artifact: str, questions: Sequence[Question]) -> str:
    """Hash of all that decides besides the models: settings, artifact, index and questions."""
    decides = settings.model_dump_json(include={"igp", "prompts", "rinse", "index"})
    asked = "\n".join(
        repr((question.id, question.text, question.answers, sorted(question.relevant.items())))
        for question in questions
    )
    parts = (decides, artifact, asked, *map(index_hash, settings.index.paths))
    return hashlib.sha256("\n\n".join(parts).encode()).hexdigest()[:16]
