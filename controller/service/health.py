"""GET /health: the process runs. GET /ready: it can answer."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import Field

from ...tools.errors import SufficitError
from .dependencies import ServiceDep
from .fields import Out
from .service import DEFAULT_INDEX

router = APIRouter(tags=["health"])


class Health(Out):
    """The process runs."""

    status: Literal["ok"] = "ok"


class Ready(Out):
    """Whether requests can be answered now."""

    status: Literal["ready", "draining", "index unavailable"] = Field(description="`ready`, or why not")
    waiting: int = Field(description="requests in the queue", ge=0)
    working: int = Field(description="requests under way", ge=0)


@router.get("/health")
async def health() -> Health:
    """Always 200 while the process runs."""
    return Health()


@router.get("/ready", responses={503: {"model": Ready, "description": "not now; `status` says why"}})
async def ready(service: ServiceDep, response: Response) -> Ready:
    """200 while models are loaded, the index can be searched and the server is not shutting down.

    Models are loaded before the server listens.
    """
    status: Literal["ready", "draining", "index unavailable"] = "ready"
    if service.life.draining:
        status = "draining"
    else:
        try:
            await service.indexes[DEFAULT_INDEX].search("ready", 1)
        except (SufficitError, OSError):
            status = "index unavailable"
    response.status_code = 200 if status == "ready" else 503
    return Ready(status=status, waiting=service.room.waiting, working=service.room.working)
