import pytest
from pydantic import ValidationError
from sufficit.tools.web.settings import WebSettings


def test_the_web_is_off_until_an_engine_is_named():
    assert not WebSettings().on
    assert WebSettings.model_validate({"search": {"engine": "brave"}}).on


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"search": {"engine": "searxng"}}, "needs web.search.url"),
        ({"search": {"engine": "json", "url": "http://x/"}}, "needs the place {query}"),
        ({"search": {"engine": "urls"}}, "needs web.search.urls"),
        ({"reach": {"networks": ["10.0.0.0/33"]}}, "not a valid IPv4 or IPv6 network"),
        ({"reach": {"hosts": ["[::1]"]}}, "without brackets: ::1"),
        ({"reach": {"hosts": ["http://x"]}}, "'http://x' is no host: give a name or an address alone"),
        ({"reach": {"hosts": ["x:8080"]}}, "ports go into web.reach.ports"),
        ({"reach": {"hosts": ["x/y"]}}, "is no host"),
        ({"reach": {"hosts": ["127.1"]}}, "is no host"),
        ({"reach": {"hosts": ["a..b"]}}, "is no host"),
        ({"reach": {"hosts": [""]}}, "is no host"),
        ({"reach": {"hosts": ["*.corp"]}}, "has a wildcard"),
        ({"reach": {"ports": [80, 70000]}}, "70000 is no port"),
        ({"fetch": {"user_agent": "x\r\nCookie: y"}}, "String should match pattern"),
        ({"fetch": {"robots": False}}, "Extra inputs"),
    ],
)
def test_what_cannot_work_is_refused(values: dict, message: str):
    with pytest.raises(ValidationError, match=message):
        WebSettings.model_validate(values)


def test_listed_hosts_are_compared_as_they_are_sent():
    listed = ["Bücher.Example.", "0:0::1", "10.1.2.3", "Intranet"]
    hosts = WebSettings.model_validate({"reach": {"hosts": listed}}).reach.policy().hosts
    assert hosts == {"xn--bcher-kva.example", "::1", "10.1.2.3", "intranet"}


def test_settings_survive_a_round_trip():
    chosen = WebSettings.model_validate(
        {"reach": {"networks": ["10.0.0.0/8", "fd00::/8"], "ca_file": "ca.pem"}}
    )
    assert WebSettings.model_validate(chosen.model_dump(mode="json")) == chosen
