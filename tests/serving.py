"""The service over stages that do as they are told, in this process and on a port of its own."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.cache.node import CacheNode
from sufficit.controller.service.keys import Client, Keys
from sufficit.controller.service.running import Server, bind
from sufficit.controller.service.service import Service
from sufficit.controller.service.waiting import WaitingRoom
from sufficit.controller.settings import Settings, load

RHINE = "The Rhine rises in the Alps."


def settings(*assignments: str) -> Settings:
    return load(["service.port=0", *assignments], environment={}).settings


def service(
    *assignments: str,
    search: Any = None,
    sufficiency: Any = None,
    generator: Any = None,
    clients: Sequence[Client] = (),
    fetch: Any = None,
) -> Service:
    """Finds `RHINE`, scores it 1.0 over a threshold of 0, and says "scripted", unless told otherwise."""
    chosen = settings(*assignments)
    search = search or FixedSearch(lambda query: passages(RHINE))
    sufficiency = sufficiency or FixedSufficiency(lambda pool: 1.0, windows=("rises in",))
    generator = generator or ScriptedGenerator()

    def under(other: Settings):
        return controller(search, sufficiency, generator, other)

    return Service(
        settings=chosen,
        controller=under(chosen),
        under=under,
        generator=generator,
        sufficiency=sufficiency,
        indexes={"default": search},
        keys=Keys(tuple(clients)),
        room=WaitingRoom(chosen.service.concurrent, chosen.service.queue),
        cache=CacheNode(chosen.cache, sufficiency, fetch),
    )


@contextmanager
def served(running: Service) -> Iterator[str]:
    """The service behind a real server on loopback, on a thread; yields its root."""
    with bind(running.settings.service) as bound:
        server = Server(running)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + 10
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
            assert not thread.is_alive()
