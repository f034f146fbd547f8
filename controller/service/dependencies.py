"""What routes ask for."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from .errors import Refused
from .service import Call, Service

bearer = HTTPBearer(auto_error=False, description="An API key, where the server has keys.")
"""Only says in OpenAPI that a key is needed: the front door has checked it before a route is called."""


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _call(request: Request) -> Call:
    call: Call = request.state.call
    return call


ServiceDep = Annotated[Service, Depends(_service)]
CallDep = Annotated[Call, Depends(_call)]


def check_model(service: Service, model: str | None) -> None:
    """Raises Refused 404 for a model that is not served here; None takes the one that is."""
    served = service.settings.service.model
    if model is not None and model != served:
        raise Refused(404, "unknown_model", f"the model served here is {served}", "model")
