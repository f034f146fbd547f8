"""Spans of a whole service, read from the exporter in memory: one run with a real generator, two scripted."""

import json
from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from scripted import ScriptedGenerator
from serving import service
from staged import FixedSearch, passages
from sufficit.controller.loading import Tools, load_readers
from sufficit.controller.service.app import create_app
from sufficit.controller.service.service import Service
from sufficit.controller.service.settings import TracingSettings
from sufficit.controller.service.spans import Spans, open_provider
from sufficit.controller.service.tracing import traced_by
from sufficit.controller.settings import load
from sufficit.tools.errors import ToolError
from sufficit.tools.models import store
from sufficit.tools.protocols import Generator

FOUND = passages("The Rhine rises in the Alps.", "The river Rhine is in Europe.")
QUESTION = "Where does the Rhine rise?"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(scope="module")
def readers():
    store.install("all-minilm-l6-v2")
    return load_readers(load(environment={}).settings)


@pytest.fixture
def traced(readers):
    """A traced service over the real readers; the exporter holds its spans."""

    def make(
        model: Generator | None = None, content: bool = False, found=lambda query: FOUND
    ) -> tuple[Service, InMemorySpanExporter]:
        model = model or ScriptedGenerator()
        exporter, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        spans = Spans(provider.get_tracer("test"), content)
        # No deadline cuts the run short, however busy the machine is.
        plain = service("rinse.threshold=-100", "igp.threshold=-1", "budget.seconds=86400")
        made = traced_by(spans, plain.settings, Tools(FixedSearch(found), model, readers))
        return replace(
            plain,
            controller=made.under(plain.settings),
            under=made.under,
            sufficiency=made.sufficiency,
            spans=spans,
        ), exporter

    return make


async def asked(running: Service, **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(create_app(running))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.post("/v1/answer", json={"question": QUESTION}, headers=headers)


def tree(spans: tuple[ReadableSpan, ...]) -> dict[str, set[str]]:
    """Names of the children of every span, by its name."""
    names = {span.context.span_id: span.name for span in spans}
    children: dict[str, set[str]] = {}
    for span in spans:
        parent = names.get(span.parent.span_id, "outside") if span.parent else "nothing"
        children.setdefault(parent, set()).add(span.name)
    return children


def words(spans: tuple[ReadableSpan, ...]) -> str:
    return json.dumps([{**span.attributes, "name": span.name} for span in spans])


async def test_stages_and_model_calls_are_spans_below_the_request(traced, generator):
    running, exporter = traced(generator)
    response = await asked(running, traceparent=PARENT)
    spans = exporter.get_finished_spans()
    model = "text_completion smollm2-135m-instruct"
    reader = "embeddings reranker-minilm"
    assert tree(spans) == {
        "outside": {"POST /v1/answer"},
        "POST /v1/answer": {"invoke_agent sufficit"},
        "invoke_agent sufficit": {
            "retrieval index",
            "sufficit.score",
            "sufficit.open",
            "sufficit.prune",
            "sufficit.write",
            "sufficit.arbitrate",
        },
        "sufficit.score": {reader},
        "sufficit.open": {model},
        "sufficit.prune": {model, reader},
        "sufficit.write": {model},
        "sufficit.arbitrate": {model},
    }
    assert {f"{span.context.trace_id:032x}" for span in spans} == {PARENT.split("-")[1]}
    server = next(span for span in spans if span.kind is SpanKind.SERVER)
    assert server.attributes["http.route"] == "/v1/answer"
    assert server.attributes["http.response.status_code"] == 200
    agent = next(span for span in spans if span.name == "invoke_agent sufficit")
    assert agent.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert agent.attributes["sufficit.action"] == response.json()["action"]
    assert agent.attributes["sufficit.trace_id"] == response.json()["trace_id"]
    calls = [s.attributes for s in spans if s.name.startswith("text_completion")]
    assert {call["sufficit.call"] for call in calls} == {"generate", "rollout", "score"}
    for call in calls:
        assert call["gen_ai.operation.name"] == "text_completion"
        assert call["gen_ai.provider.name"] == "transformers"
        assert call["gen_ai.request.model"] == "smollm2-135m-instruct"
        assert call["gen_ai.usage.input_tokens"] > 0
    written = sum(call["gen_ai.usage.output_tokens"] for call in calls)
    assert written == response.json()["budget"]["spent"]["generated_tokens"]
    assert len(calls) == response.json()["budget"]["spent"]["model_calls"]
    assert all(c["gen_ai.response.finish_reasons"] for c in calls if c["sufficit.call"] != "score")
    assert "Rhine" not in words(spans)


async def test_spans_hold_content_where_that_is_switched_on(traced):
    running, exporter = traced(content=True)
    await asked(running)
    said = exporter.get_finished_spans()
    assert "Rhine" in words(said)
    prompts = [
        json.loads(s.attributes["gen_ai.input.messages"])
        for s in said
        if "gen_ai.input.messages" in s.attributes
    ]
    assert any(QUESTION in message["parts"][0]["content"] for messages in prompts for message in messages)


async def test_a_failing_stage_is_marked_by_the_kind_of_its_error_only(traced):
    def gone(query: str):
        raise ToolError(f"cannot search for {query}")

    running, exporter = traced(found=gone)
    await asked(running)
    (failed,) = [span for span in exporter.get_finished_spans() if span.name == "retrieval index"]
    assert failed.status.status_code is StatusCode.ERROR
    assert failed.attributes["error.type"] == "ToolError"
    assert "Rhine" not in str(failed.to_json())


async def test_a_request_that_the_server_failed_is_an_error(traced):
    async def broken(*_):
        raise RuntimeError(QUESTION)

    running, exporter = traced()
    response = await asked(replace(running, controller=SimpleNamespace(answer=broken)))
    (span,) = exporter.get_finished_spans()
    assert response.status_code == span.attributes["http.response.status_code"] == 500
    assert (span.attributes["error.type"], span.status.status_code) == ("500", StatusCode.ERROR)


def test_spans_leave_over_otlp_where_the_settings_say_so():
    provider = open_provider(TracingSettings(exporter="otlp", endpoint="http://127.0.0.1:9/v1/traces"))
    assert provider.resource.attributes["service.name"] == "sufficit"
    (processor,) = provider._active_span_processor._span_processors
    assert processor.span_exporter._endpoint == "http://127.0.0.1:9/v1/traces"
    provider.shutdown()
