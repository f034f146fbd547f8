"""Which addresses may be reached: those of the public internet, and what the settings list beyond.

The ranges are those of the IANA special-purpose registries for IPv4 and IPv6. Of IPv6 only global unicast
(2000::/3) is public at all. Addresses that carry an IPv4 address inside are judged by it where the carrier is
in use (IPv4-mapped, NAT64) and refused where it is not (6to4, Teredo, ISATAP, IPv4-compatible).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

_NAME = re.compile(r"(?=.{1,253}\.?$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?")
# To a resolver a name whose last part is a number is an IPv4 address in one of many notations.
_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)\.?")

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_SPECIAL_V4: Final = tuple(
    (IPv4Network(network), name)
    for network, name in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud metadata"),
        ("169.254.0.0/16", "link-local, cloud metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.31.196.0/24", "AS112"),
        ("192.52.193.0/24", "multicast tunnels"),
        ("192.88.99.0/24", "6to4 relays"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "AS112"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved, broadcast"),
    )
)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_SPECIAL_V6: Final = tuple(
    (IPv6Network(network), name)
    for network, name in (
        ("2001::/32", "Teredo"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("2620:4f:8000::/48", "AS112"),
        ("3fff::/20", "documentation"),
    )
)
_NAT64: Final = IPv6Network("64:ff9b::/96")
_ISATAP: Final = (0x00005EFE, 0x02005EFE)  # bits 64 to 95 of an ISATAP address


def special(address: Address) -> str | None:
    """What kind of special address this is, None for a public one."""
    if isinstance(address, IPv4Address):
        return next((name for network, name in _SPECIAL_V4 if address in network), None)
    carried = embedded(address)
    if carried is not None:
        name = special(carried)
        return f"{name}, inside an IPv6 address" if name else None
    if address not in _GLOBAL_V6:
        return "not global unicast"
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        return "ISATAP"
    return next((name for network, name in _SPECIAL_V6 if address in network), None)


def embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv4-mapped or NAT64 address stands for, None for all others."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None


def literal(host: str) -> Address | None:
    """The address that a host in canonical notation is, None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def plain_host(host: str) -> bool:
    """Whether a host, in lower case, is an address in canonical notation or a name that is no number."""
    return literal(host) is not None or bool(_NAME.fullmatch(host) and not _NUMBER.fullmatch(host))


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Public addresses on `ports`, and beyond them `networks`, and `hosts` wherever they resolve to.

    `hosts` are exact names or literal addresses in lower case. Listing a network opens it to every name that
    resolves into it; listing a host opens only that host.
    """

    networks: tuple[Network, ...] = ()
    hosts: frozenset[str] = frozenset()
    ports: frozenset[int] = frozenset((80, 443))

    def refusal(self, host: str, addresses: Iterable[Address]) -> str | None:
        """Why a host with these addresses is not reached, None if it may be: all of them are judged."""
        if host.rstrip(".") in self.hosts:
            return None
        for address in addresses:
            name = special(address)
            if name is not None and not self._listed(address):
                return (
                    f"{host} has the address {address} ({name}), which is not public; "
                    "if it is meant, list it in web.reach.networks, or the host in web.reach.hosts"
                )
        return None

    def opened(self, host: str, port: int) -> "AddressPolicy":
        """This policy with one more host and port."""
        return AddressPolicy(self.networks, self.hosts | {host}, self.ports | {port})

    def _listed(self, address: Address) -> bool:
        carried = embedded(address) if isinstance(address, IPv6Address) else None
        return any(each in network for network in self.networks for each in (address, carried) if each)
