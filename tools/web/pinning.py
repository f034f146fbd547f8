"""Connections to the address that was checked, and to no other.

A name is resolved once for each connection; all its addresses are judged; the socket is opened to one of
those very addresses. Whatever the name resolves to afterwards does not matter. httpcore goes on to take the
URL's host for the Host header, for SNI and for the certificate's name, so TLS is as strict as ever.
"""

import asyncio
import ssl
from collections.abc import Iterable, Sequence
from ipaddress import IPv6Address, ip_address
from typing import Any, Final, Protocol

import httpcore
import httpx

from ..errors import AddressRefused, FetchFailed, FetchRefused
from .address import Address, AddressPolicy, literal

_TRIED: Final = 3  # addresses of one name that are tried until one answers


class Resolver(Protocol):
    """Finds the addresses of a name."""

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """All addresses, best first. Raises OSError where there are none."""
        ...


class SystemResolver:
    """The operating system's resolver, hosts file and search domains included."""

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """See Resolver."""
        found = await asyncio.get_running_loop().getaddrinfo(host, port, proto=6)
        # A link-local address comes with its interface, which the address alone decides about.
        return [ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Opens sockets to checked addresses only."""

    def __init__(self, policy: AddressPolicy, resolver: Resolver) -> None:
        self._policy = policy
        self._resolver = resolver
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to `host`. Raises AddressRefused if one of its addresses may not be reached."""
        addresses = await self._checked(host, port, timeout)
        last: Exception | None = None
        for address in addresses[:_TRIED]:
            try:
                return await self._sockets.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise httpcore.ConnectError(f"{host} does not answer on port {port}") from last

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore.AsyncNetworkStream:
        """Never: raises FetchRefused."""
        raise FetchRefused(f"the socket {path} is not on the web")

    async def sleep(self, seconds: float) -> None:
        """See httpcore."""
        await self._sockets.sleep(seconds)

    async def _checked(self, host: str, port: int, seconds: float | None) -> list[Address]:
        if port not in self._policy.ports:
            raise FetchRefused(
                f"{host} is not reached on port {port}; add it to web.reach.ports if it is meant"
            )
        known = literal(host)
        found: Sequence[Address]
        if known is None:
            try:
                async with asyncio.timeout(seconds):
                    found = await self._resolver.resolve(host, port)
            except (OSError, UnicodeError) as error:
                raise FetchFailed(f"the name {host} cannot be resolved: {error or 'no answer'}") from error
        else:
            found = [known]
        refusal = self._policy.refusal(host, found)
        if refusal is not None:
            raise AddressRefused(refusal, host)
        if not found:
            raise FetchRefused(f"the name {host} has no address")
        return [_plain(address) for address in found]


def _plain(address: Address) -> Address:
    """An IPv4-mapped address as the IPv4 address that it was judged by."""
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


class PinnedTransport(httpx.AsyncBaseTransport):
    """One connection a request over PinnedBackend, closed with its response: nothing outlives a request.

    There is no pool, hence no connection that was opened under another name, and no state of an event loop.
    No proxies, no cookies, no netrc: it does nothing that it is not asked for.
    """

    def __init__(self, backend: httpcore.AsyncNetworkBackend, tls: ssl.SSLContext) -> None:
        if tls.verify_mode != ssl.CERT_REQUIRED or not tls.check_hostname:
            raise ValueError("certificates and host names are always verified")
        self._backend = backend
        self._tls = tls

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; the body is read from the response's stream."""
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        connection = httpcore.AsyncHTTPConnection(url.origin, self._tls, network_backend=self._backend)
        sent = httpcore.Request(
            method=request.method,
            url=url,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            response = await connection.handle_async_request(sent)
        except BaseException:
            await connection.aclose()
            raise
        return httpx.Response(response.status, headers=response.headers, stream=_Stream(response, connection))


class _Stream(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response, connection: httpcore.AsyncHTTPConnection) -> None:
        self._response = response
        self._connection = connection

    async def __aiter__(self) -> Any:
        async for chunk in self._response.aiter_stream():
            yield chunk

    async def aclose(self) -> None:
        try:
            await self._response.aclose()
        finally:
            await self._connection.aclose()
