"""From settings to a Controller with its tools and policies: the only place that knows them all."""

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version

from ..policies.action import ThresholdAction
from ..policies.answering import PromptWriter
from ..policies.probing import RolloutProbe
from ..policies.pruning import build_pruner
from ..policies.query import UncoveredWindows
from ..policies.rinse.artifact import artifact_hash
from ..policies.rinse.scorer import build_rinse
from ..policies.similarity import SimilarityGate
from ..policies.trustmargin import ScoredViews, TrustMargin
from ..policies.types import Sufficiency
from .budget import Ledger
from .loading import Readers, Tools, load_readers, load_tools
from .loop import Controller, LoopSettings
from .metering import (
    MeteredEncoder,
    MeteredGenerator,
    MeteredJointReader,
    MeteredReranker,
    MeteredSpanReader,
)
from .settings import RinseSettings, Settings, of_a_run, settings_hash
from .stages import Stages
from .trace import VERSION, Started
from .web import WebEvidence
from .writing import ClosedBook, WithEvidence, opening_price


def build(settings: Settings) -> Controller:
    """A Controller as the settings describe it. Loads models, which takes some seconds.

    Raises UsageError where something is missing or does not fit, naming what to do.
    """
    return assembled(settings, load_tools(settings))


def sufficiency(settings: Settings, readers: Readers | None = None) -> Sufficiency:
    """RINSE alone, for whoever needs the decision and no answer, such as a cache of passages.

    Without `readers` its models are loaded, and only those; there is no generator and no index. Raises
    UsageError as `build` does.
    """
    return _rinse(readers or load_readers(settings), settings.rinse)


def _metered(readers: Readers, ledger: Ledger) -> Readers:
    """The same readers, their calls counted by a run's ledger."""
    return replace(
        readers,
        reranker=MeteredReranker(readers.reranker, ledger),
        encoder=readers.encoder and MeteredEncoder(readers.encoder, ledger),
        span=readers.span and MeteredSpanReader(readers.span, ledger),
        joint=readers.joint and MeteredJointReader(readers.joint, ledger),
        similarity=readers.similarity and MeteredReranker(readers.similarity, ledger),
    )


def _rinse(readers: Readers, settings: RinseSettings) -> Sufficiency:
    if settings.method == "similarity" and settings.threshold is not None:
        return SimilarityGate(readers.whole_texts, settings.threshold)
    return build_rinse(
        readers.artifact,
        readers.wordpieces,
        readers.reranker,
        readers.encoder,
        settings.threshold,
        span=readers.span,
        joint=readers.joint,
    )


def assembled(
    settings: Settings, tools: Tools, around: Callable[[Stages], Stages] | None = None
) -> Controller:
    """A Controller over loaded tools; policies are built for every run, over the ledger that pays for it.

    `around` may wrap the stages of every run, as what traces them does.
    """
    price = opening_price(settings.generator.answer_tokens, settings.igp.max_tokens)

    def assemble(ledger: Ledger) -> Stages:
        generator = MeteredGenerator(tools.generator, ledger)
        prompts = PromptWriter(generator, settings.prompts)
        probe = RolloutProbe(generator, settings.igp)
        rinse = _rinse(_metered(tools.readers, ledger), settings.rinse)
        answer_tokens = settings.generator.answer_tokens
        stages = Stages(
            opener=ClosedBook(generator, prompts, probe, answer_tokens, price),
            retriever=tools.retriever,
            web=WebEvidence(tools.web, settings.web, ledger, tools.keeper) if tools.web else None,
            sufficiency=rinse,
            action=ThresholdAction(),
            query=UncoveredWindows(),
            pruner=build_pruner(probe, rinse, settings.igp),
            writer=WithEvidence(generator, prompts, answer_tokens),
            arbiter=TrustMargin(ScoredViews(generator, settings.prompts), settings.trustmargin),
        )
        return around(stages) if around else stages

    # What the backend lacks is refused here, before the first question.
    assemble(Ledger(settings.budget))
    models = names(settings, tools)

    def started(question: str) -> Started:
        dumped = of_a_run(settings)
        return Started(
            version=VERSION, question=question, settings=dumped, models=models, web=tools.web is not None
        )

    return Controller(assemble, LoopSettings.of(settings), started)


def names(settings: Settings, tools: Tools) -> dict[str, str]:
    """Names and hashes of all that measures, for the trace."""
    encoder = tools.readers.encoder
    return {
        "sufficit": version("sufficit"),
        "settings": settings_hash(settings),
        "generator": tools.generator.capabilities.model,
        "reranker": tools.readers.reranker.fingerprint,
        "encoder": encoder.fingerprint if encoder else "",
        "artifact": artifact_hash(tools.readers.artifact),
    }
