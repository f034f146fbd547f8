"""From settings to a loaded service."""

from functools import partial

from ..build import assembled, sufficiency
from ..cache.opening import open_node
from ..loading import load_tools
from ..retrieval import load_retriever
from ..settings import Settings
from .keys import Keys
from .service import DEFAULT_INDEX, Service
from .waiting import WaitingRoom


def open_service(settings: Settings) -> Service:
    """Load models, indexes and keys, which takes some seconds; models are shared by all routes.

    Raises UsageError where something is missing or does not fit, naming what to do.
    """
    chosen = settings.service
    keys = Keys.load(chosen.keys)
    tools = load_tools(settings)
    spans, under = None, partial(assembled, tools=tools)
    if chosen.tracing.exporter != "none":
        from .tracing import open_spans, traced_tools, traced_under  # noqa: PLC0415  an extra of its own

        spans = open_spans(chosen.tracing)
        tools = traced_tools(tools, settings, spans)
        under = traced_under(tools, spans)
    more = {
        name: load_retriever(settings.index.model_copy(update={"path": path, "fused_with": ()}))
        for name, path in chosen.indexes.items()
    }
    decides = sufficiency(settings, tools.readers)
    return Service(
        settings=settings,
        controller=assembled(settings, tools),
        under=partial(assembled, tools=tools),
        generator=tools.generator,
        sufficiency=decides,
        indexes={DEFAULT_INDEX: tools.retriever, **more},
        keys=keys,
        room=WaitingRoom(chosen.concurrent, chosen.queue),
        cache=open_node(settings, decides, tools),
    )
