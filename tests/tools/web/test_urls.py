import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sufficit.tools.errors import FetchRefused
from sufficit.tools.web.address import literal
from sufficit.tools.web.urls import origin, parse_url, redirected

PORTS = frozenset((80, 443))


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (" http://Example.COM:80/a?b=c#d\n", "http://example.com/a?b=c"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
        ("http://1.1.1.1", "http://1.1.1.1"),
        ("http://a_b.example/@x", "http://a_b.example/@x"),
        ("http://a.example?x=a@b", "http://a.example?x=a@b"),
        ("http://a.example/?x=a@b", "http://a.example/?x=a@b"),
        ("http://a.example#@x", "http://a.example"),
    ],
)
def test_plain_urls_are_read(text: str, parsed: str):
    assert str(parse_url(text, PORTS)) == parsed


@pytest.mark.parametrize("url", ["http://u@a.example?x", "http://u:p@a.example#x", "http://@a.example/"])
def test_user_names_and_passwords_are_refused(url: str):
    with pytest.raises(FetchRefused, match="a user name or password"):
        parse_url(url, PORTS)


@given(st.text(max_size=60))
@example("߀")
def test_any_text_is_read_as_a_plain_host_or_refused(text: str):
    for prefix in ("", "http://", "https://a.example@"):
        try:
            url = parse_url(prefix + text, PORTS)
        except FetchRefused:
            continue
        assert not url.userinfo
        address = literal(url.host)
        # What a resolver is asked for; digits of other scripts are letters there, as an A-label.
        asked = url.raw_host.decode("ascii")
        assert address is not None or not asked.rstrip(".").rpartition(".")[2].isdigit()
        assert origin(parse_url(str(url), PORTS)) == origin(url)


def test_a_redirect_keeps_tls():
    url = parse_url("https://a.example/x/y", PORTS)
    assert str(redirected(url, "../z", PORTS)) == "https://a.example/z"
    assert str(redirected(url, "//b.example/", PORTS)) == "https://b.example/"
    with pytest.raises(FetchRefused, match="https to http"):
        redirected(url, "http://a.example/", PORTS)


@pytest.mark.parametrize("host", ["xn--", "xn--a", "xn--zzzzzz99999.example"])
def test_a_label_that_stands_for_no_name_is_refused(host: str):
    with pytest.raises(FetchRefused):
        parse_url(f"http://{host}/", frozenset({80}))
