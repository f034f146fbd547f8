"""Where a generator's server is, how it is let in, and how long anything may take. Times in seconds."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ..errors import SettingsError


class ServerSettings(BaseModel):
    """A server that speaks the completions protocol. The key itself is never part of the settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = Field(default="http://127.0.0.1:8000", description="the server's root, with or without /v1")
    api_key_env: str | None = Field(default=None, description="environment variable that holds the API key")
    api_key_file: Path | None = Field(default=None, description="file that holds the API key")
    tokenizer: str | None = Field(
        default=None, description="the server's model here, to count tokens; none asks the server's /tokenize"
    )
    connect_seconds: float = Field(default=5.0, gt=0, le=600)
    read_seconds: float = Field(default=60.0, gt=0, le=3600, description="without a byte from the server")
    total_seconds: float = Field(
        default=180.0, gt=0, le=7200, description="of one request, all tries included"
    )
    attempts: int = Field(default=4, ge=1, le=20, description="tries of a request that fails in passing")
    backoff_seconds: float = Field(default=0.5, ge=0, le=60, description="wait before the second try")
    concurrency: int = Field(default=32, ge=1, le=1024, description="requests at once")

    @field_validator("url")
    @classmethod
    def _is_plain(cls, value: str) -> str:
        try:
            url = urlsplit(value)
            port = url.port
        except ValueError as error:
            raise ValueError(f"is no URL: {error}") from error
        if url.scheme not in ("http", "https") or not url.hostname or port == 0:
            raise ValueError("must be http://host:port or https://host")
        if url.username or url.password or url.query or url.fragment:
            raise ValueError("must hold no credentials, query or fragment; use api_key_env or api_key_file")
        return value.rstrip("/").removesuffix("/v1")


def api_key(settings: ServerSettings) -> str | None:
    """The API key, None for none. Raises SettingsError where it is named and not there."""
    if settings.api_key_env is not None:
        value = os.environ.get(settings.api_key_env, "")
        source = f"api_key_env: the environment variable {settings.api_key_env}"
    elif settings.api_key_file is not None:
        source = f"api_key_file: {settings.api_key_file}"
        try:
            value = settings.api_key_file.expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"generator.{source} cannot be read: {type(error).__name__}") from error
    else:
        return None
    key = value.strip()
    if not key:
        raise SettingsError(f"generator.{source} is not set or empty")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(
            f"generator.{source} holds what cannot be an API key: spaces or control characters"
        )
    return key
