"""From settings to a Controller with its tools and policies: the only place that knows them all."""

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ..policies.action import ThresholdAction
from ..policies.answering import PromptWriter
from ..policies.igp import IGP, RolloutProbe
from ..policies.query import UncoveredWindows
from ..policies.rinse.artifact import EMBEDDED, Artifact, load_artifact
from ..policies.rinse.scorer import build_rinse
from ..policies.trustmargin import ScoredViews, TrustMargin
from ..tools.errors import SettingsError
from ..tools.generators.transformers import TransformersGenerator
from ..tools.models.cache import cache_dir
from ..tools.protocols import Encoder, Generator, Reranker, Retriever, WordPieces
from ..tools.rerankers.biencoder import BiEncoderReranker
from ..tools.retrievers.opening import open_for_writing, open_index
from ..tools.web.settings import WebSettings
from ..tools.web.toolbox import WebTools
from ..tools.wordpieces import WordPieceTokenizer
from .budget import Ledger
from .loop import Controller, LoopSettings
from .metering import MeteredEncoder, MeteredGenerator
from .settings import GeneratorSettings, Settings
from .stages import Stages
from .trace import VERSION, Started
from .web import DAY, Keeper, Unexpired, WebEvidence
from .writing import ClosedBook, WithEvidence, opening_price


@dataclass(frozen=True, slots=True)
class Tools:
    """What all runs share: the index and the loaded models. Any of them can be one's own."""

    retriever: Retriever
    generator: Generator
    wordpieces: WordPieces
    reranker: Reranker
    encoder: Encoder | None
    artifact: Artifact
    web: WebTools | None = None
    keeper: Keeper | None = None


def build(settings: Settings) -> Controller:
    """A Controller as the settings describe it. Loads models, which takes some seconds.

    Raises UsageError where something is missing or does not fit, naming what to do.
    """
    return assembled(settings, load_tools(settings))


def load_tools(settings: Settings) -> Tools:
    """The index and the models that the settings name."""
    artifact = load_artifact(
        EMBEDDED if settings.rinse.artifact == "embedded" else Path(settings.rinse.artifact)
    )
    index = open_index(settings.index.path)
    chosen, rinse = settings.generator, settings.rinse
    generator = _load_model(chosen.model, chosen)
    encoder: Encoder | None = None
    if rinse.encoder is not None:
        # One copy in memory serves both where the generator is the model that the artifact was fitted on.
        encoder = generator if rinse.encoder == chosen.model else _load_model(rinse.encoder, chosen)
    return Tools(
        retriever=Unexpired(index),
        generator=generator,
        wordpieces=WordPieceTokenizer.load(rinse.reranker),
        reranker=BiEncoderReranker.load(rinse.reranker, device=chosen.device, threads=chosen.threads),
        encoder=encoder,
        artifact=artifact,
        web=_load_web(settings.web) if settings.web.on else None,
        keeper=_keeper(settings),
    )


def _keeper(settings: Settings) -> Keeper | None:
    days = settings.web.keep_days
    return Keeper(open_for_writing(settings.index.path), days * DAY) if days else None


def _load_web(settings: WebSettings) -> WebTools:
    try:
        from ..tools.web.build import build_web  # noqa: PLC0415  an extra of its own
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"web.search.engine = {settings.search.engine} needs the package {error.name}\n"
            "Install it: pip install 'sufficit[web]'"
        ) from error
    return build_web(settings, cache_dir() / "web")


def _load_model(model: str, settings: GeneratorSettings) -> TransformersGenerator:
    return TransformersGenerator.load(
        model, device=settings.device, dtype=settings.dtype, threads=settings.threads
    )


def assembled(settings: Settings, tools: Tools) -> Controller:
    """A Controller over loaded tools; policies are built for every run, over the ledger that pays for it."""
    price = opening_price(settings.generator.answer_tokens, settings.igp.max_tokens)

    def assemble(ledger: Ledger) -> Stages:
        generator = MeteredGenerator(tools.generator, ledger)
        encoder = MeteredEncoder(tools.encoder, ledger) if tools.encoder else None
        prompts = PromptWriter(generator, settings.prompts)
        probe = RolloutProbe(generator, settings.igp)
        answer_tokens = settings.generator.answer_tokens
        return Stages(
            opener=ClosedBook(generator, prompts, probe, answer_tokens, price),
            retriever=tools.retriever,
            web=WebEvidence(tools.web, settings.web, ledger, tools.keeper) if tools.web else None,
            sufficiency=build_rinse(
                tools.artifact, tools.wordpieces, tools.reranker, encoder, settings.rinse.threshold
            ),
            action=ThresholdAction(),
            query=UncoveredWindows(),
            pruner=IGP(probe, settings.igp),
            writer=WithEvidence(generator, prompts, answer_tokens),
            arbiter=TrustMargin(ScoredViews(generator, settings.prompts), settings.trustmargin),
        )

    # What the backend lacks is refused here, before the first question.
    assemble(Ledger(settings.budget))
    models = _names(settings, tools)

    def started(question: str) -> Started:
        dumped = settings.model_dump(mode="json")
        return Started(
            version=VERSION, question=question, settings=dumped, models=models, web=tools.web is not None
        )

    return Controller(assemble, LoopSettings.of(settings), started)


def _names(settings: Settings, tools: Tools) -> dict[str, str]:
    """Names and hashes of all that measures, for the trace."""
    canonical = json.dumps(settings.model_dump(mode="json"), sort_keys=True)
    return {
        "sufficit": version("sufficit"),
        "settings": hashlib.sha256(canonical.encode()).hexdigest(),
        "generator": tools.generator.capabilities.model,
        "reranker": tools.reranker.fingerprint,
        "encoder": tools.encoder.fingerprint if tools.encoder else "",
    }
