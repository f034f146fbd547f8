"""Rates and budgets of keys, over a clock that the test turns; the file that they come from."""

from hashlib import sha256
from pathlib import Path

import pytest
from sufficit.controller.service.errors import Refused
from sufficit.controller.service.keys import ANYONE, DAY, Client, Keys
from sufficit.tools.errors import SettingsError

HASH = sha256(b"secret").hexdigest()
NOON = 1_800_000_000 - 1_800_000_000 % DAY + DAY / 2


def client(**limits: int) -> Client:
    return Client(name="bot", sha256=HASH, **limits)


def test_a_key_is_known_by_its_hash():
    keys = Keys((client(),))
    assert keys.identify("Bearer secret").name == "bot"
    assert keys.identify("bearer  secret ").name == "bot"
    with pytest.raises(Refused, match="not known"):
        keys.identify(f"Bearer {HASH}")


def test_without_keys_everyone_may_call_as_often_as_they_like():
    keys = Keys()
    assert keys.identify(None) is ANYONE
    for _ in range(1000):
        keys.count_request(ANYONE)
    assert keys.left(ANYONE, "tokens_per_day") is None


def test_a_rate_refills_with_time():
    now = [NOON]
    keys, bot = Keys((client(requests_per_minute=6),), lambda: now[0]), client(requests_per_minute=6)
    for _ in range(6):
        keys.count_request(bot)
    with pytest.raises(Refused) as refused:
        keys.count_request(bot)
    assert (refused.value.status, refused.value.headers["Retry-After"]) == (429, "10")
    now[0] += 9.9
    with pytest.raises(Refused):
        keys.count_request(bot)
    now[0] += 0.2
    keys.count_request(bot)
    with pytest.raises(Refused):
        keys.count_request(bot)
    now[0] += 3600  # no more than a minute's worth is saved up
    for _ in range(6):
        keys.count_request(bot)
    with pytest.raises(Refused):
        keys.count_request(bot)


def test_a_budget_is_new_every_day():
    now = [NOON]
    bot = client(tokens_per_day=100)
    keys = Keys((bot,), lambda: now[0])
    keys.spend(bot, "tokens_per_day", 60)
    with pytest.raises(Refused) as refused:
        keys.spend(bot, "tokens_per_day", 41)
    assert refused.value.kind == "budget_spent"
    assert refused.value.headers["Retry-After"] == str(DAY // 2)
    keys.spend(bot, "tokens_per_day", -10)
    keys.spend(bot, "tokens_per_day", 41)
    assert keys.left(bot, "tokens_per_day") == 9
    now[0] += DAY / 2
    assert keys.left(bot, "tokens_per_day") == 100
    keys.spend(bot, "tokens_per_day", -50)  # of a run that began yesterday: no gift for today
    assert keys.left(bot, "tokens_per_day") == 100


def test_a_file_of_keys(tmp_path: Path):
    path = tmp_path / "keys.toml"
    path.write_text(
        f'[[keys]]\nname = "bot"\nsha256 = "{HASH}"\n'
        "expires = 2099-01-01T00:00:00Z\nrequests_per_minute = 60\n"
    )
    bot = Keys.load(path).identify("Bearer secret")
    assert (bot.name, bot.tenant, bot.requests_per_minute) == ("bot", "bot", 60)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "keys: Field required"),
        ("keys = []", "at least 1"),
        ("[[keys]]\nname = 3", "keys.0.name"),
        ('[[keys]]\nname = "a"\nsha256 = "secret"', "keys.0.sha256"),
        (f'[[keys]]\nname = "a"\nsha256 = "{HASH}"\nrate = 1', "keys.0.rate: Extra"),
        (f'[[keys]]\nname = "a"\nsha256 = "{HASH}"\nexpires = 2099-01-01T00:00:00', "keys.0.expires"),
        (f'[[keys]]\nname = "a"\nsha256 = "{HASH}"\n' * 2, "the same name"),
        ("[[keys", "cannot read"),
    ],
)
def test_a_file_that_does_not_fit_says_where(tmp_path: Path, text: str, says: str):
    path = tmp_path / "keys.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=says) as error:
        Keys.load(path)
    assert str(path) in str(error.value)
    assert "secret" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(SettingsError, match="cannot read"):
        Keys.load(tmp_path / "none.toml")
