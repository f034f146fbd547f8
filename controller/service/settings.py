"""Settings of the HTTP service: section `[service]`."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ...policies.conversation import ConversationSettings


class TracingSettings(BaseModel):
    """Spans for OpenTelemetry."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    exporter: Literal["none", "otlp", "console"] = Field(default="none", description="where spans go")
    endpoint: str | None = Field(
        default=None, description="URL of the OTLP collector; none takes OTEL_EXPORTER_OTLP_ENDPOINT"
    )
    service_name: str = Field(default="sufficit", min_length=1, description="resource attribute service.name")
    content: bool = Field(default=False, description="whether spans may hold questions, prompts and answers")


class ServiceSettings(BaseModel):
    """Where the service listens, whom it serves, and how much at once."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(default="127.0.0.1", description="address to bind to; without keys only loopback")
    port: int = Field(default=8080, ge=0, le=65_535, description="port; 0 takes a free one")
    keys: Path | None = Field(default=None, description="TOML file of API keys; none serves loopback only")
    model: str = Field(default="sufficit", min_length=1, description="the name that requests call it by")
    indexes: dict[str, Path] = Field(
        default={}, description="more indexes that /v1/decide may search, by name; `default` is index.path"
    )
    concurrent: int = Field(default=16, ge=1, le=1024, description="requests worked on at once")
    queue: int = Field(default=64, ge=0, le=100_000, description="requests that may wait for their turn")
    body_bytes: int = Field(
        default=8_388_608, ge=1024, le=1_073_741_824, description="longest body of a request"
    )
    history: int = Field(default=64, ge=1, le=10_000, description="messages of one conversation")
    notice_seconds: float = Field(
        default=0.0, ge=0, le=600, description="how long it still accepts after SIGTERM, /ready being 503"
    )
    drain_seconds: int = Field(
        default=60, ge=0, le=86_400, description="how long it then waits for requests under way"
    )
    log_content: bool = Field(default=False, description="whether logs may hold questions and passages")
    conversation: ConversationSettings = ConversationSettings()
    tracing: TracingSettings = TracingSettings()
