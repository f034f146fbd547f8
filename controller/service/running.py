"""The server process: where it may bind, and how it ends."""

import asyncio
import ipaddress
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from ...tools.errors import SettingsError
from .app import create_app
from .service import Service
from .settings import ServiceSettings


def check_host(settings: ServiceSettings) -> None:
    """Raises SettingsError where anybody on the network could call without a key."""
    if settings.keys is None and not _is_loopback(settings.host):
        raise SettingsError(
            f"service.host = {settings.host!r} is no loopback address, and there are no API keys\n"
            "Name a file of keys in service.keys, or leave service.host at 127.0.0.1"
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bind(settings: ServiceSettings) -> socket.socket:
    """A socket at the host and port, not listening yet. Raises SettingsError where it cannot be had."""
    check_host(settings)
    try:
        kind, *_, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(kind)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        place = f"service.host = {settings.host!r}, service.port = {settings.port}"
        raise SettingsError(f"{place}: {error.strerror}; name another address or port") from error
    return bound


class Server(uvicorn.Server):
    """Ends in steps at SIGTERM or SIGINT: not ready, no new connections, requests under way, end.

    A second signal ends it at once.
    """

    def __init__(self, service: Service) -> None:
        settings = service.settings.service
        super().__init__(
            uvicorn.Config(
                create_app(service),
                access_log=False,
                log_level="warning",
                server_header=False,
                timeout_graceful_shutdown=settings.drain_seconds,
            )
        )
        self._service = service

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals lead to `leave` while the server runs."""
        if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.leave)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    def leave(self) -> None:
        """Begin to end; called again, end at once."""
        if self._service.life.draining:
            self.should_exit = self.force_exit = True
            return
        self._service.life.draining = True
        notice = self._service.settings.service.notice_seconds
        asyncio.get_running_loop().call_later(notice, setattr, self, "should_exit", True)
