"""The application: one line a route."""

from importlib.metadata import version

from fastapi import FastAPI, Security

from . import answer, cache, chat, decide, errors, health, models, monitoring
from .dependencies import bearer
from .front import FrontDoor
from .service import Service

ROUTERS = (answer.router, chat.router, cache.router, decide.router, models.router)
"""Need an API key where the server has keys."""

OPEN_ROUTERS = (health.router, monitoring.router)
"""Need none; `front.OPEN_PATHS` lists their paths."""


def create_app(service: Service) -> FastAPI:
    """The service as an ASGI application."""
    app = FastAPI(title="Sufficit", version=version("sufficit"), redoc_url=None)
    app.state.service = service
    errors.install(app)
    app.add_middleware(FrontDoor, service=service)
    monitoring.install(app, service)
    guard = [Security(bearer)] if service.keys else []
    for router in ROUTERS:
        app.include_router(router, dependencies=guard)
    for router in OPEN_ROUTERS:
        app.include_router(router)
    return app
