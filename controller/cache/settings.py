"""Where the cache node keeps its passages, for how long, and who is asked on a miss."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ...tools.web.keys import HEADER_NAME


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WebhookSettings(_Section):
    """The operator's own fetcher, asked by POST with JSON; see `webhook.Webhook`."""

    url: str = Field(default="", description="asked on a miss in place of the web; empty leaves it out")
    key_variable: str = Field(default="", description="environment variable that holds the webhook's key")
    key_header: str = Field(
        default="Authorization",
        pattern=HEADER_NAME,
        description="header that carries the key as it is",
    )
    seconds: float = Field(default=30.0, gt=0, le=600, description="for one answer")
    answer_bytes: int = Field(default=4_000_000, ge=1, le=100_000_000, description="longest answer")
    passages: int = Field(default=200, ge=1, le=10_000, description="most passages of one answer")

    @field_validator("url")
    @classmethod
    def _over_http(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("give a whole URL that begins with http:// or https://")
        return url


class CacheSettings(_Section):
    """The cache node."""

    folder: Path = Field(default=Path("cache"), description="holds an index a scope")
    keep_seconds: float = Field(
        default=7 * 86_400.0, ge=1, le=3_200_000_000, description="from a fetch to the passages' expiry"
    )
    again_seconds: float = Field(
        default=86_400.0,
        ge=0,
        le=3_200_000_000,
        description="how soon the same need may be fetched for again, unless what it brought expires earlier",
    )
    passages: int = Field(default=8, ge=1, le=200, description="passages looked up for a need")
    alike: float | None = Field(
        default=0.92,
        ge=-1,
        le=1,
        description="what was kept for another question serves from this score of `policies.kept_for` on; "
        "none leaves the decision to RINSE alone",
    )
    wrong_share: float | None = Field(
        default=0.03,
        ge=0,
        le=1,
        description="share of such hits that are wrong, as `sufficit eval cache` measures it at `alike`, for "
        "the estimate; the default is that of 0.92 on questions of 2WikiMultiHopQA and SQuAD 2.0",
    )
    scopes: int = Field(
        default=1000, ge=1, le=1_000_000, description="most scopes that passages are kept for"
    )
    sweep_seconds: float = Field(
        default=300.0, gt=0, le=86_400, description="between two sweeps of a running service"
    )
    sweep_scopes: int = Field(default=100, ge=1, le=100_000, description="scopes that one sweep looks at")
    webhook: WebhookSettings = WebhookSettings()
