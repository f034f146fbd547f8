"""OpenTelemetry spans by its conventions for generative AI, off unless an exporter is configured.

No span holds a question, a passage, a prompt or an answer unless `content` is on: names, numbers and kinds of
errors only.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ...tools.errors import SettingsError
from .settings import TracingSettings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

Value = str | bool | int | float | Sequence[str]

OPERATION = "gen_ai.operation.name"
MODEL = "gen_ai.request.model"
PROVIDER = "gen_ai.provider.name"


@dataclass(frozen=True, slots=True)
class Spans:
    """Opens spans on one tracer. `content` says whether they may hold texts."""

    tracer: Tracer
    content: bool = False

    @contextmanager
    def span(
        self,
        name: str,
        attributes: Mapping[str, Value],
        kind: SpanKind = SpanKind.INTERNAL,
        parent: Context | None = None,
    ) -> Iterator[Span]:
        """A span around what happens inside, child of `parent` or of the one that is open.

        An error is marked by its kind, also where the work is cancelled, as by a deadline or a client that
        has gone.
        """
        with self.tracer.start_as_current_span(
            name,
            context=parent,
            kind=kind,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR, str(error) if self.content else None))
                raise


def server_span(
    spans: Spans, method: str, headers: Iterable[tuple[bytes, bytes]]
) -> AbstractContextManager[Span]:
    """The span of one HTTP request, child of the caller's where the headers name one (W3C trace context)."""
    carrier = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
    parent = TraceContextTextMapPropagator().extract(carrier)
    return spans.span(method, {"http.request.method": method}, SpanKind.SERVER, parent)


def responded(span: Span, method: str, route: str, status: int) -> None:
    """Name a request's span by its route, and mark it where the server failed."""
    span.update_name(f"{method} {route}")
    span.set_attributes({"http.route": route, "http.response.status_code": status})
    if status >= 500:
        span.set_attribute("error.type", str(status))
        span.set_status(Status(StatusCode.ERROR))


def open_provider(settings: TracingSettings) -> "TracerProvider":
    """The tracer provider that the settings describe; spans leave in batches, from a thread of its own.

    Raises SettingsError where the exporter's package is missing.
    """
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  an extra of its own
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import (  # noqa: PLC0415
        BatchSpanProcessor,
        ConsoleSpanExporter,
        SpanExporter,
    )

    exporter: SpanExporter
    if settings.exporter == "console":
        exporter = ConsoleSpanExporter()
    else:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
                OTLPSpanExporter,
            )
        except ModuleNotFoundError as error:
            raise SettingsError(
                f"service.tracing.exporter = {settings.exporter} needs the package {error.name}\n"
                "Install it: pip install 'sufficit[tracing]'"
            ) from error
        exporter = OTLPSpanExporter(endpoint=settings.endpoint)
    provider = TracerProvider(resource=Resource.create({"service.name": settings.service_name}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
