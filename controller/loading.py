"""From settings to loaded tools: the index, the models, the web."""

from dataclasses import dataclass
from pathlib import Path

from ..policies.rinse.artifact import EMBEDDED, Artifact, load_artifact
from ..tools.errors import SettingsError
from ..tools.generators.transformers import TransformersGenerator
from ..tools.generators.vllm import VllmGenerator
from ..tools.models.cache import cache_dir
from ..tools.protocols import (
    Encoder,
    Generator,
    JointReader,
    Reranker,
    Retriever,
    SpanReader,
    WordPieces,
)
from ..tools.readers.joint import FusedJointReader
from ..tools.readers.span import ExtractiveSpanReader
from ..tools.rerankers.opening import open_reranker, whole_texts
from ..tools.retrievers.opening import open_for_writing
from ..tools.web.settings import WebSettings
from ..tools.web.toolbox import WebTools
from ..tools.wordpieces import WordPieceTokenizer
from .held import HeldTools
from .retrieval import load_retriever
from .settings import GeneratorSettings, RinseSettings, Settings
from .web import DAY, Keeper


@dataclass(frozen=True, slots=True)
class Readers:
    """What RINSE stands on. Without `encoder`, `span` or `joint` the reader over it is left out.

    `similarity` compares whole texts for gates and caches; without it the reranker does.
    """

    artifact: Artifact
    wordpieces: WordPieces
    reranker: Reranker
    encoder: Encoder | None
    span: SpanReader | None = None
    joint: JointReader | None = None
    similarity: Reranker | None = None

    @property
    def whole_texts(self) -> Reranker:
        """What compares whole texts."""
        return self.similarity or self.reranker


@dataclass(frozen=True, slots=True)
class Tools:
    """What all runs share. Any of it can be one's own."""

    retriever: Retriever
    generator: Generator
    readers: Readers
    web: WebTools | None = None
    keeper: Keeper | None = None


def load_readers(settings: Settings, shared: TransformersGenerator | None = None) -> Readers:
    """RINSE's artifact and models. `shared`, if it is the encoder's model, is not loaded a second time.

    Raises ArtifactError, ModelMissing.
    """
    rinse, chosen = settings.rinse, settings.generator
    artifact = load_artifact(EMBEDDED if rinse.artifact == "embedded" else Path(rinse.artifact))
    encoder: Encoder | None = None
    if rinse.encoder is not None:
        same = shared is not None and rinse.encoder == chosen.model
        encoder = shared if same else load_model(rinse.encoder, chosen)
    reranker = open_reranker(rinse.reranker, device=chosen.device, threads=chosen.threads)
    return Readers(
        artifact=artifact,
        wordpieces=WordPieceTokenizer.load(rinse.wordpieces),
        reranker=reranker,
        encoder=encoder,
        span=load_span(rinse, chosen),
        joint=load_joint(rinse, chosen),
        similarity=whole_texts(reranker),
    )


def load_span(rinse: RinseSettings, chosen: GeneratorSettings) -> SpanReader | None:
    """The span reader's model, on the generator's device."""
    if rinse.span is None:
        return None
    return ExtractiveSpanReader.load(rinse.span, device=chosen.device, threads=chosen.threads)


def load_joint(rinse: RinseSettings, chosen: GeneratorSettings) -> JointReader | None:
    """The joint reader's model, on the generator's device."""
    if rinse.joint is None:
        return None
    return FusedJointReader.load(rinse.joint, device=chosen.device, threads=chosen.threads)


def load_tools(settings: Settings, held: HeldTools | None = None) -> Tools:
    """The index, the models and the web as the settings name them. Raises UsageError where one is missing.

    What `held` holds and these settings name as well is not loaded again.
    """
    held = held or HeldTools()
    index = settings.index.model_dump_json(exclude={"passages_per_round"})
    model = settings.generator.model_dump_json(exclude={"answer_tokens"})
    if settings.generator.backend != "transformers":
        model += f" {settings.igp.top_k}"
    generator = held.take("generator", model, lambda: load_generator(settings))
    shared = generator if isinstance(generator, TransformersGenerator) else None
    readers = model + settings.rinse.model_dump_json(exclude={"method", "threshold"})
    return Tools(
        retriever=held.take("retriever", index, lambda: load_retriever(settings.index)),
        generator=generator,
        readers=held.take("readers", readers, lambda: load_readers(settings, shared)),
        web=_load_web(settings.web) if settings.web.on else None,
        keeper=_keeper(settings),
    )


def load_generator(settings: Settings) -> Generator:
    """The generator on the backend that the settings name.

    Raises UsageError where something is missing or does not fit, GenerationFailed where no server answers.
    """
    chosen, top_k = settings.generator, settings.igp.top_k
    if chosen.backend == "vllm":
        return VllmGenerator.load(
            chosen.model, top_k=top_k, context_tokens=chosen.context_tokens, dtype=chosen.dtype
        )
    if chosen.backend == "http":
        return _connect(chosen, top_k)
    return load_model(chosen.model, chosen)


def _connect(chosen: GeneratorSettings, top_k: int) -> Generator:
    try:
        from ..tools.generators.http import HttpGenerator  # noqa: PLC0415  an extra of its own
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"generator.backend = http needs the package {error.name}\n"
            "Install it: pip install 'sufficit[http]'"
        ) from error
    return HttpGenerator.connect(chosen.model, chosen, top_k=top_k, context_tokens=chosen.context_tokens)


def load_model(model: str, settings: GeneratorSettings) -> TransformersGenerator:
    """A causal language model on the device that the settings name."""
    return TransformersGenerator.load(
        model,
        device=settings.device,
        dtype=settings.dtype,
        threads=settings.threads,
        prefix_tokens=settings.remembered_tokens,
    )


def _keeper(settings: Settings) -> Keeper | None:
    days = settings.web.keep_days if settings.web.on else 0
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
