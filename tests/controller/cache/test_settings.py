import pytest
from sufficit.controller.settings import load
from sufficit.tools.errors import SettingsError


@pytest.mark.parametrize(
    "wrong",
    [
        "webhook.url=ftp://h/",
        "webhook.url=h.example/hook",
        "webhook.url=file:///etc/passwd",
        "webhook.key_header=",
        "webhook.key_header=X Key",
        "webhook.key_header=X:Key",
        "webhook.seconds=0",
        "webhook.seconds=inf",
        "webhook.answer_bytes=0",
        "webhook.passages=0",
        "keep_seconds=0",
        "keep_seconds=nan",
        "keep_seconds=inf",
        "again_seconds=-1",
        "passages=201",
        "scopes=0",
        "sweep_seconds=0",
        "sweep_scopes=0",
        "sweep_secs=5",
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong):
    key = f"cache.{wrong.partition('=')[0]}"
    with pytest.raises(SettingsError) as refused:
        load([f"cache.{wrong}"], environment={})
    assert key in str(refused.value)


def test_bounds_themselves_are_taken():
    given = ["cache.again_seconds=0", "cache.passages=200", "cache.scopes=1", "cache.webhook.url="]
    given += ["cache.webhook.seconds=600", "cache.webhook.key_header=X-Api_Key"]
    chosen = load(given, environment={}).settings.cache
    assert (chosen.again_seconds, chosen.passages, chosen.scopes) == (0, 200, 1)
    assert (chosen.webhook.url, chosen.webhook.seconds, chosen.webhook.key_header) == ("", 600, "X-Api_Key")


def test_the_webhook_is_asked_where_its_whole_address_is_given():
    for url in ("http://127.0.0.1:9/hook", "https://h.example/?a=b"):
        assert load([f"cache.webhook.url={url}"], environment={}).settings.cache.webhook.url == url
