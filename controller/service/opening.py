"""From settings to a loaded service."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ...tools.errors import SettingsError
from ..build import assembled, sufficiency
from ..cache.opening import open_kept_for, open_node
from ..loading import Tools, load_tools
from ..retrieval import load_retriever
from ..settings import Settings
from .keys import Keys
from .service import DEFAULT_INDEX, Answers, Service
from .waiting import WaitingRoom

if TYPE_CHECKING:
    from .tracing import Traced


def open_service(settings: Settings, tools: Tools | None = None) -> Service:
    """Load models, indexes and keys, which takes some seconds; models are shared by all routes.

    `tools` of one's own stand in for those that the settings name. Raises UsageError where something is
    missing or does not fit, naming what to do.
    """
    chosen = settings.service
    keys = Keys.load(chosen.keys)
    tools = tools or load_tools(settings)
    under: Callable[[Settings], Answers] = partial(assembled, tools=tools)
    decides, spans = sufficiency(settings, tools.readers), None
    if chosen.tracing.exporter != "none":
        traced = _traced(settings, tools)
        tools, under, decides, spans = traced.tools, traced.under, traced.sufficiency, traced.spans
    more = {
        name: load_retriever(settings.index.model_copy(update={"path": path, "fused_with": ()}))
        for name, path in chosen.indexes.items()
    }
    return Service(
        settings=settings,
        controller=under(settings),
        under=under,
        generator=tools.generator,
        sufficiency=decides,
        indexes={DEFAULT_INDEX: tools.retriever, **more},
        keys=keys,
        room=WaitingRoom(chosen.concurrent, chosen.queue),
        cache=open_node(settings, decides, tools),
        kept_for=open_kept_for(settings, tools.readers),
        spans=spans,
    )


def _traced(settings: Settings, tools: Tools) -> "Traced":
    try:
        from .tracing import open_traced  # noqa: PLC0415  an extra of its own
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"service.tracing.exporter = {settings.service.tracing.exporter} needs the package {error.name}\n"
            "Install it: pip install 'sufficit[tracing]'"
        ) from error
    return open_traced(settings, tools)
