"""`sufficit serve`: the controller over HTTP."""

import gc
from typing import Annotated

import typer

from ..console import err
from ..settings import load
from .ask import IndexFolder
from .settings import Assignments, ConfigFile


def serve(
    index: IndexFolder = None,
    host: Annotated[str | None, typer.Option(help="Address to bind to instead of service.host.")] = None,
    port: Annotated[int | None, typer.Option(help="Port instead of service.port; 0 finds one.")] = None,
    assignments: Assignments = None,
    config: ConfigFile = None,
) -> None:
    """Answer questions and decide hit or miss over HTTP; /docs of the running server shows how."""
    given = {"index.path": index, "service.host": host, "service.port": port}
    options = {key: value for key, value in given.items() if value is not None}
    settings = load(assignments or (), config, options=options).settings
    # FastAPI, uvicorn and the models are loaded here, since no other command needs them all.
    from ..service.running import Server, bind  # noqa: PLC0415

    with bind(settings.service) as bound:
        from ..service.logs import write_json_lines  # noqa: PLC0415
        from ..service.opening import open_service  # noqa: PLC0415

        with err.status("loading models"):
            service = open_service(settings)
        place, free_port = bound.getsockname()[:2]
        err.print(f"serving at http://{place}:{free_port}, described at /docs", markup=False)
        write_json_lines()
        Server(service).run(sockets=[bound])
    # Python ends by looking for garbage among all that torch and transformers made, which takes seconds.
    gc.freeze()
