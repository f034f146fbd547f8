import pytest
from sufficit.tools.errors import SettingsError
from sufficit.tools.web.keys import key_headers


@pytest.mark.parametrize("key", ["s3cret", " s3cret\r\n", "s3cret\n"])
def test_a_key_is_carried_without_white_space_around_it(monkeypatch, key):
    monkeypatch.setenv("MY_KEY", key)
    assert key_headers("web.k", "MY_KEY", "X-Key") == {"X-Key": "s3cret"}


def test_without_a_variable_there_is_no_header():
    assert key_headers("web.k", "", "X-Key") == {}


@pytest.mark.parametrize("key", [None, "", " \n", "s3\r\ncret", "s3crét", "s3\tcret", "s3\x7f"])
def test_what_no_header_can_carry_is_refused_without_naming_it(monkeypatch, key):
    if key is None:
        monkeypatch.delenv("MY_KEY", raising=False)
    else:
        monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(SettingsError, match=r"web\.k = 'MY_KEY'") as refused:
        key_headers("web.k", "MY_KEY", "X-Key")
    assert "s3" not in str(refused.value)
