"""GET /v1/models: what requests may name as their model, as OpenAI lists it."""

from typing import Literal

from fastapi import APIRouter
from pydantic import Field

from .dependencies import ServiceDep
from .errors import documented
from .fields import Out

router = APIRouter(tags=["models"])


class Model(Out):
    """One model."""

    id: str = Field(description="the name that requests call it by")
    object: Literal["model"] = "model"
    created: int = Field(default=0, description="Unix seconds; not known, so 0")
    owned_by: str = "sufficit"
    generator: str = Field(description="the language model that writes its answers")


class Models(Out):
    """All models."""

    object: Literal["list"] = "list"
    data: tuple[Model, ...]


@router.get("/v1/models", responses=documented(401, 429))
async def models(service: ServiceDep) -> Models:
    """The one model that is served here."""
    settings = service.settings
    return Models(data=(Model(id=settings.service.model, generator=settings.generator.model),))
