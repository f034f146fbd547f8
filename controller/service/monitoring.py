"""GET /metrics, and what fills it."""

from dataclasses import fields

from fastapi import APIRouter, FastAPI, Request, Response

from ..cache.counters import Counters
from .metrics import CONTENT_TYPE, Metrics
from .service import Service
from .watching import Noting, Watched

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "metrics"}},
)
async def metrics(request: Request) -> Response:
    """Everything that is counted, in the text format of Prometheus."""
    counted: Metrics = request.app.state.metrics
    return Response(counted.text(), headers={"Content-Type": CONTENT_TYPE})


def install(app: FastAPI, service: Service) -> None:
    """Let every request of the application be counted, logged and, where spans are on, traced."""
    counted = Metrics()
    counted.watch("queue_waiting", "requests in the queue", lambda: service.room.waiting)
    counted.watch("queue_working", "requests under way", lambda: service.room.working)
    for counter in fields(Counters):
        _count_cache(counted, service, counter.name)
    app.state.metrics = counted
    service.observers.extend((counted, Noting()))
    app.add_middleware(Watched, service=service, metrics=counted)


def _count_cache(counted: Metrics, service: Service, name: str) -> None:
    """One of the cache node's counters; its estimate is a gauge, and not a number where there is none."""

    def value() -> float:
        now = getattr(service.cache.counters(), name)
        return float("nan") if now is None else float(now)

    add = counted.watch if name == "wrong_hits" else counted.count
    add(f"cache_{name}", "of the cache node, since it was started", value)
