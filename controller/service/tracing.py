"""From settings to models and stages whose work is spans. Loaded only where spans are on."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from ...policies.types import Sufficiency
from ..build import assembled, sufficiency
from ..loading import Readers, Tools
from ..settings import RinseSettings, Settings
from .service import Answers
from .spans import Spans, open_provider
from .traced_models import (
    TracedEncoder,
    TracedGenerator,
    TracedJointReader,
    TracedReranker,
    TracedSpanReader,
)
from .traced_stages import TracedAnswers, TracedSufficiency, traced

SCOPE = "sufficit"
"""Name of the instrumentation."""


@dataclass(frozen=True, slots=True)
class Traced:
    """What a service stands on; every call of a model, every stage and every run is a span of `spans`."""

    tools: Tools
    under: Callable[[Settings], Answers]
    sufficiency: Sufficiency
    spans: Spans


def open_traced(settings: Settings, tools: Tools) -> Traced:
    """Spans that leave as the settings say. Raises SettingsError where a package is missing."""
    chosen = settings.service.tracing
    return traced_by(Spans(open_provider(chosen).get_tracer(SCOPE), chosen.content), settings, tools)


def traced_by(spans: Spans, settings: Settings, tools: Tools) -> Traced:
    """The same tools, and what is built over them, traced."""
    generator = TracedGenerator(tools.generator, spans, settings.generator.backend)
    tools = replace(tools, generator=generator, readers=_readers(tools.readers, settings.rinse, spans))

    def under(other: Settings) -> Answers:
        around = partial(traced, spans=spans, index=other.index.path.name)
        return TracedAnswers(assembled(other, tools, around), spans)

    return Traced(tools, under, TracedSufficiency(sufficiency(settings, tools.readers), spans), spans)


def _readers(readers: Readers, names: RinseSettings, spans: Spans) -> Readers:
    return replace(
        readers,
        reranker=TracedReranker(readers.reranker, spans, names.reranker),
        encoder=readers.encoder and TracedEncoder(readers.encoder, spans),
        span=readers.span and TracedSpanReader(readers.span, spans, names.span or ""),
        joint=readers.joint and TracedJointReader(readers.joint, spans, names.joint or ""),
        similarity=readers.similarity and TracedReranker(readers.similarity, spans, names.reranker),
    )
