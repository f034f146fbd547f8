from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.tools.web.address import AddressPolicy, embedded, special


@given(st.ip_addresses())
def test_nothing_that_the_standard_library_calls_special_is_public(address: IPv4Address | IPv6Address):
    if not address.is_global or address.is_multicast:
        carried = embedded(address) if isinstance(address, IPv6Address) else None
        assert special(address) is not None or (carried is not None and carried.is_global)


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_alike(address: IPv4Address):
    verdict = special(address) is None
    for prefix in (0xFFFF << 32, 0x64FF9B << 96):
        assert (special(IPv6Address(prefix | int(address))) is None) == verdict
    for prefix in (0, 0x2002 << 112, 0x20010000 << 96, 0x26064700 << 96 | 0x5EFE << 32):
        assert special(IPv6Address(prefix | int(address))) is not None


@pytest.mark.parametrize("text", ["1.1.1.1", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::1111"])
def test_the_internet_is_public(text: str):
    assert special(ip_address(text)) is None


def test_a_listed_network_opens_its_addresses_and_their_mapped_forms():
    policy = AddressPolicy(networks=(ip_network("10.1.0.0/16"), ip_network("fd00::/8")))
    for text in ("10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "fd12::1"):
        assert policy.refusal("x.example", [ip_address(text)]) is None
    assert "10.2.0.1 (private)" in (policy.refusal("x.example", [ip_address("10.2.0.1")]) or "")


def test_a_listed_host_opens_that_host_alone():
    policy = AddressPolicy(hosts=frozenset({"wiki.example"}))
    inside = [ip_address("10.0.0.1")]
    assert policy.refusal("wiki.example", inside) is None
    assert policy.refusal("wiki.example.", inside) is None
    assert policy.refusal("a.wiki.example", inside) is not None
    opened = policy.opened("search.example", 8888)
    assert opened.refusal("search.example", inside) is None
    assert opened.ports == {80, 443, 8888}
