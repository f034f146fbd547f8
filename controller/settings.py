"""One frozen settings object, validated once, each value with its origin."""

import difflib
import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from ..policies.abstention import AbstentionSettings
from ..policies.answering import AnswerPrompts
from ..policies.igp import IGPSettings
from ..policies.trustmargin import TrustMarginSettings
from ..tools.errors import SettingsError
from ..tools.generators.server import ServerSettings
from ..tools.models.catalog import ENCODER, RERANKER
from ..tools.web.settings import WebSettings
from .budget import BudgetSettings
from .cache.settings import CacheSettings
from .layers import flatten, layers, put
from .service.settings import ServiceSettings


class Section(BaseModel):
    """A group of settings: frozen, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class LuceneSettings(Section):
    """How Lucene scores, where an index is Lucene's."""

    k1: float = Field(default=0.9, ge=0, le=100, description="saturation of term counts in BM25")
    b: float = Field(default=0.4, ge=0, le=1, description="weight of passage length in BM25")
    rm3: bool = Field(default=False, description="widen queries by terms of the passages found first")


class IndexSettings(Section):
    """Where passages come from."""

    path: Path = Field(default=Path("index"), description="folder of the index, of any kind")
    fused_with: tuple[Path, ...] = Field(
        default=(), description="folders of more indexes, searched side by side and fused by rank"
    )
    lucene: LuceneSettings = LuceneSettings()
    passages_per_round: int = Field(default=8, ge=1, le=200, description="passages asked for in one round")

    @property
    def paths(self) -> tuple[Path, ...]:
        """The folders of all indexes that are searched, the first one first."""
        return (self.path, *self.fused_with)


class GeneratorSettings(Section, ServerSettings):
    """The language model that answers and probes; where it runs; for `http`, its server."""

    backend: Literal["transformers", "vllm", "http"] = "transformers"
    model: str = Field(
        default="smollm2-135m-instruct",
        description="catalogue name, folder, GGUF file or hub name; for http the server's name for it",
    )
    context_tokens: int | None = Field(
        default=None,
        ge=64,
        description="longest prompt plus answer, for vllm and http; none takes the model's",
    )
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    threads: int | None = Field(
        default=None, ge=1, le=1024, description="CPU threads; none takes what is free"
    )
    remembered_tokens: int = Field(
        default=8192,
        ge=0,
        description="tokens of prompts that transformers keeps read for prompts that begin alike; some "
        "context blocks for each question under way",
    )
    answer_tokens: int = Field(default=32, ge=1, le=1024, description="longest answer")


class RinseSettings(Section):
    """The sufficiency scorer."""

    method: Literal["rinse", "similarity"] = Field(
        default="rinse",
        description="what scores; similarity takes the best cosine of question and passage, with a threshold",
    )
    artifact: str = Field(default="embedded", description="a packaged artifact's name, or a folder")
    reranker: str = Field(
        default=RERANKER,
        description="the content reader's model, as generator.model: a sentence encoder, a cross-encoder, or "
        "a trained reranker's name or folder",
    )
    wordpieces: str = Field(
        default=ENCODER, description="whose WordPiece vocabulary cuts questions into windows"
    )
    encoder: str | None = Field(
        default=None,
        description="the latent reader's model; none leaves that reader out: on the embedded artifact's "
        "smollm2-135m-instruct it is near chance and lowers the sum",
    )
    span: str | None = Field(
        default=None, description="a trained span reader's name or folder; none leaves that reader out"
    )
    joint: str | None = Field(
        default=None,
        description="a trained joint reader's name, such as joint-minilm, or folder; none leaves it out",
    )
    threshold: float | None = Field(default=None, description="answer threshold; none takes the artifact's")

    @field_validator("threshold")
    @classmethod
    def _is_a_number(cls, threshold: float | None) -> float | None:
        if threshold is not None and math.isnan(threshold):
            raise ValueError("must be a number; inf never answers, -inf always does")
        return threshold

    @model_validator(mode="after")
    def _similarity_has_a_threshold(self) -> Self:
        if self.method == "similarity" and self.threshold is None:
            raise ValueError("method = similarity needs a threshold, for instance 0.6; the artifact has none")
        return self


class Settings(Section):
    """Everything that decides how a question is treated."""

    question_characters: int = Field(default=4000, ge=1, le=1_000_000, description="longest question")
    index: IndexSettings = IndexSettings()
    generator: GeneratorSettings = GeneratorSettings()
    prompts: AnswerPrompts = AnswerPrompts()
    rinse: RinseSettings = RinseSettings()
    abstention: AbstentionSettings = AbstentionSettings()
    igp: IGPSettings = IGPSettings()
    trustmargin: TrustMarginSettings = TrustMarginSettings()
    web: WebSettings = WebSettings()
    cache: CacheSettings = CacheSettings()
    budget: BudgetSettings = BudgetSettings()
    service: ServiceSettings = ServiceSettings()


@dataclass(frozen=True, slots=True)
class Loaded:
    """The effective settings, and where each value that is not a default came from, by dotted key."""

    settings: Settings
    origins: Mapping[str, str]


def load(
    assignments: Sequence[str] = (),
    config: Path | None = None,
    environment: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Loaded:
    """Read all layers and validate once.

    `assignments` are `key=value` texts, `config` a TOML file, `environment` the process's where not given;
    `options` are values that need no reading, by dotted key, and win over all.
    Raises SettingsError naming the key, the value and what is allowed.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for key, value, origin in layers(assignments, config, os.environ if environment is None else environment):
        put(merged, key, value)
        origins[key] = origin
    for key, value in (options or {}).items():
        put(merged, key, value)
        origins[key] = "an argument"
    return Loaded(validated(merged, origins), origins)


def validated(tree: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    """Nested plain values as settings. Raises SettingsError naming the key, its value and its origin."""
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        raise SettingsError(_explain(error.errors()[0], origins)) from error


def _explain(error: ErrorDetails, origins: Mapping[str, str]) -> str:
    path = ".".join(str(part) for part in error["loc"])
    # A group that does not exist is found out before the key in it: what was written is named whole.
    key = next((known for known in origins if known == path or known.startswith(f"{path}.")), path)
    origin = origins.get(key) or next((o for k, o in origins.items() if path.startswith(f"{k}.")), "")
    where = f" (from {origin})" if origin else ""
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, keys(), n=1)
        hint = f"did you mean {near[0]}?" if near else "`sufficit settings` lists all keys"
        return f"unknown setting {key}{where}; {hint}"
    if error["type"] == "model_type":
        inside = next((known for known in keys() if known.startswith(f"{path}.")), f"{path}.…")
        return f"{path} = {error['input']!r}{where}: a group of settings; set one in it, such as {inside}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{path} = {error['input']!r}{where}: {message[0].lower()}{message[1:]}"


def keys() -> list[str]:
    """Every dotted key there is."""
    return list(flat(Settings()))


def flat(settings: Settings) -> dict[str, Any]:
    """The settings as dotted keys with plain JSON values."""
    return dict(flatten(settings.model_dump(mode="json")))


def of_a_run(settings: Settings) -> dict[str, Any]:
    """The settings that decide how a question is treated, as plain JSON values."""
    return settings.model_dump(mode="json", exclude={"service"})


def settings_hash(settings: Settings) -> str:
    """SHA-256 over the settings of a run, hexadecimal."""
    canonical = json.dumps(of_a_run(settings), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()
