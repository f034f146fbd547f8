import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import httpcore
import pytest
import trustme
from sufficit.tools.errors import FetchFailed, FetchRefused
from sufficit.tools.web.pinning import PinnedTransport
from website import LOOPBACK, Names, Site, article, settings, web

# Hosts as they may stand in a URL: none of them may ever be connected to.
LITERALS = (
    *(
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "127.255.255.254",
        "0",
        "0.0.0.0",
        "0x7f000001",
        "0x7f.1",
        "0X7F.0.0.1",
    ),
    *("017700000001", "0177.0.0.1", "2130706433", "127.0.0.1.", "00127.0.0.1", "127.0.0.01", "0x0a000001"),
    *("%31%32%37.0.0.1", "127%2e0%2e0%2e1", "①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "256.1.1.1"),
    *(
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "100.64.0.1",
        "100.127.255.254",
    ),
    *("169.254.169.254", "169.254.0.1", "100.100.100.200", "192.0.0.192", "168.63.129.16", "192.0.2.1"),
    *(
        "198.18.0.1",
        "198.51.100.7",
        "203.0.113.9",
        "192.88.99.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
    ),
    *("255.255.255.255", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]"),
    *(
        "[::ffff:7f00:1]",
        "[::ffff:10.0.0.1]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::a00:1]",
    ),
    *("[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2002:a00:1::1]", "[2001:0:7f00:1::]"),
    *(
        "[2001:0000:4136:e378:8000:63bf:3fff:fdd2]",
        "[fe80::1]",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[fec0::1]",
    ),
    *("[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[2001:db8::1]", "[100::1]", "[3fff::1]", "[5f00::1]"),
    *(
        "[2606:4700::5efe:7f00:1]",
        "[::1]:80@1.1.1.1",
        "1.1.1.1@127.0.0.1",
        "1.1.1.1:80@127.0.0.1",
        "[::ffff:169.254.169.254]",
    ),
    *(
        "127.0.0.1\\@1.1.1.1",
        "1.1.1.1\\.127.0.0.1",
        "127.0.0.1\t",
        "127.0.0.1\u2028.example",
        "",
        "[127.0.0.1]",
        "[::1",
    ),
)
# Schemes and ports that are not fetched, wherever they lead.
URLS = (
    *(
        "file:///etc/passwd",
        "ftp://1.1.1.1/",
        "gopher://1.1.1.1:70/_x",
        "data:text/html,x",
        "javascript:alert(1)",
    ),
    *(
        "//1.1.1.1/",
        "/etc/passwd",
        "http:/1.1.1.1",
        "http:1.1.1.1",
        "http://1.1.1.1:22/",
        "http://1.1.1.1:6379/",
    ),
    *(
        "http://1.1.1.1:0/",
        "https://1.1.1.1:99999/",
        "http://user:pw@1.1.1.1/",
        "http://user@1.1.1.1/",
        "unix:///run/x",
    ),
    *(
        "http://a b.example/",
        "http://1.1.1.1/" + "a" * 5000,
        "\x00http://1.1.1.1/",
        "http+unix://%2frun%2fx/",
        "x",
    ),
)
# What a name may be made to resolve to.
ADDRESSES = (
    *(
        "127.0.0.1",
        "10.0.0.1",
        "172.20.1.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.1.1",
        "0.0.0.0",
        "224.0.0.1",
    ),
    *(
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001::1",
        "fe80::1",
    ),
    *("fd12::1", "ff02::1", "::", "240.0.0.1", "168.63.129.16"),
)


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Every connection that was tried, none of which succeeds."""
    tried: list[tuple[str, int]] = []

    async def connect(self: object, host: str, port: int, *_: object) -> None:
        tried.append((host, port))
        raise httpcore.ConnectError("not in this test")

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    return tried


def test_there_are_enough_of_them():
    assert len(set(LITERALS)) >= 60


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_no_special_address_in_any_notation_is_reached(attempts: list, scheme: str):
    names = Names()
    tools = web(settings(fetch={"attempts": 1}), names)
    for host in LITERALS:
        with pytest.raises(FetchRefused):
            await tools.fetcher.fetch(f"{scheme}://{host}/latest/meta-data/")
    for url in URLS:
        with pytest.raises(FetchRefused):
            await tools.fetcher.fetch(url)
    assert attempts == []
    assert names.asked == []


async def test_a_name_with_any_special_address_is_not_reached(attempts: list):
    names = Names()
    tools = web(settings(fetch={"attempts": 1}), names)
    for address in ADDRESSES:
        for answer in ([address], ["93.184.215.14", address], [address, "2606:4700::1"]):
            host = f"n{len(names.answers)}.example"
            names.answers[host] = [answer]
            with pytest.raises(FetchRefused):
                await tools.fetcher.fetch(f"http://{host}/")
    assert names.asked == list(names.answers)
    assert attempts == []


async def test_a_public_name_is_connected_at_the_address_that_was_checked(attempts: list):
    names = Names({"www.example": [["93.184.215.14", "2606:4700::1", "64:ff9b::101:101", "::ffff:8.8.8.8"]]})
    tools = web(settings(fetch={"attempts": 1}), names)
    with pytest.raises(FetchRefused, match="robots"):
        await tools.fetcher.fetch("http://www.example/")
    assert attempts == [("93.184.215.14", 80), ("2606:4700::1", 80), ("64:ff9b::101:101", 80)]
    assert names.asked == ["www.example"]


async def test_answers_that_change_are_judged_anew_and_never_used_unjudged(site: Site):
    """Rebinding: the second answer leads elsewhere, but the name was resolved once for its connection."""
    site.serve("/a", article("text " * 50))
    open_names = Names({"site.example": [[LOOPBACK], [LOOPBACK], ["127.0.0.2"]]})
    tools = web(settings(site), open_names)
    page = await tools.fetcher.fetch(site.url("/a", "site.example"))
    assert page.url == site.url("/a", "site.example")
    # One connection for robots.txt, one for the page, one answer of the resolver for each.
    assert open_names.asked == ["site.example"] * 2
    assert site.requests[-1].headers["host"] == f"site.example:{site.port}"
    with pytest.raises(FetchRefused, match="loopback"):
        await tools.fetcher.fetch(site.url("/a", "site.example"))
    assert site.paths() == ["/a"]


async def test_only_what_is_listed_is_opened(site: Site):
    site.serve("/a", article("text " * 50))
    names = Names({"intranet.example": [[LOOPBACK]], "other.example": [[LOOPBACK]]})
    by_host = settings(reach={"hosts": ["Intranet.example"], "ports": [site.port]})
    tools = web(by_host, names)
    assert (await tools.fetcher.fetch(site.url("/a", "intranet.example"))).kind == "html"
    for refused in (site.url("/a", "other.example"), site.url("/a"), "http://intranet.example/a"):
        with pytest.raises(FetchRefused):
            await tools.fetcher.fetch(refused)
    by_network = web(settings(site), names)
    with pytest.raises(FetchRefused):
        await by_network.fetcher.fetch(f"http://127.0.0.2:{site.port}/a")


async def test_names_that_cannot_be_resolved_fail(site: Site):
    tools = web(settings(site, fetch={"attempts": 1}), Names({"empty.example": [[]]}))
    with pytest.raises(FetchRefused, match="cannot be resolved: no such name"):
        await tools.fetcher.fetch(site.url("/", "absent.example"))
    with pytest.raises(FetchRefused, match="has no address"):
        await tools.fetcher.fetch(site.url("/", "empty.example"))


# --- TLS ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def secure(authority: trustme.CA) -> AsyncIterator[Site]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("good.example").configure_cert(context)
    async with Site(tls=context) as served:
        served.serve("/a", article("text " * 50))
        served.seen = []
        context.sni_callback = lambda _, name, __: served.seen.append(name)
        yield served


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> Path:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


async def test_tls_verifies_the_name_though_the_address_is_pinned(secure: Site, ca_file: Path):
    names = Names({"good.example": [[LOOPBACK]], "bad.example": [[LOOPBACK]]})
    reach = {"networks": [f"{LOOPBACK}/32"], "ports": [secure.port], "ca_file": ca_file}
    tools = web(settings(reach=reach), names)
    assert (await tools.fetcher.fetch(secure.url("/a", "good.example"))).kind == "html"
    assert set(secure.seen) == {"good.example"}
    assert secure.requests[-1].headers["host"] == f"good.example:{secure.port}"
    served = len(secure.requests)
    for host in ("bad.example", LOOPBACK):
        with pytest.raises((FetchRefused, FetchFailed), match="certificate"):
            await tools.fetcher.fetch(secure.url("/a", host))
    assert len(secure.requests) == served


async def test_an_unknown_authority_is_not_trusted(secure: Site):
    tools = web(settings(secure), Names({"good.example": [[LOOPBACK]]}))
    with pytest.raises(FetchRefused, match="certificate does not hold"):
        await tools.fetcher.fetch(secure.url("/a", "good.example"))
    assert secure.requests == []


def test_a_relaxed_context_is_not_taken():
    context = ssl.create_default_context()
    context.check_hostname = False
    with pytest.raises(ValueError, match="always verified"):
        PinnedTransport(httpcore.AsyncMockBackend([]), context)
    context.verify_mode = ssl.CERT_NONE
    with pytest.raises(ValueError, match="always verified"):
        PinnedTransport(httpcore.AsyncMockBackend([]), context)
