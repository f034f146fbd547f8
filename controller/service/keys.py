"""Who may call, how often, and for how much.

What a key has used is counted in memory: rate and budgets begin anew when the server is started again.
"""

import hashlib
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from ...tools.errors import SettingsError
from .errors import Refused

DAY = 86_400


class Client(BaseModel):
    """One API key. The file holds its SHA-256, never the key: `printf %s "$KEY" | sha256sum`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=64, description="who holds it; stands in logs and metrics")
    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the key in hexadecimal")
    scope: str | None = Field(default=None, description="tenant whose cached passages it sees; none: name")
    expires: AwareDatetime | None = Field(default=None, description="from when on it is refused; none: never")
    requests_per_minute: int | None = Field(default=None, ge=1, description="rate; none is without limit")
    tokens_per_day: int | None = Field(
        default=None, ge=1, description="tokens generated in a UTC day; none is without limit"
    )
    decisions_per_day: int | None = Field(
        default=None, ge=1, description="questions decided in a UTC day; none is without limit"
    )

    @property
    def tenant(self) -> str:
        """The scope that isolates what it stores."""
        return self.scope or self.name


ANYONE = Client(name="anyone", sha256="0" * 64)
"""Whoever calls where there are no keys."""


class _KeyFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: tuple[Client, ...] = Field(min_length=1)


@dataclass(slots=True)
class _Meter:
    """What one key has used: a bucket of requests that refills, and sums of the day."""

    requests: float
    refilled: float
    day: int = 0
    used: dict[str, int] = field(default_factory=dict)


class Keys:
    """All API keys with what each has used. `clients` empty: everyone is `ANYONE`."""

    def __init__(self, clients: tuple[Client, ...] = (), clock: Callable[[], float] = time.time) -> None:
        self._by_hash = {client.sha256: client for client in clients}
        self._clock = clock
        self._meters: dict[str, _Meter] = {}

    @classmethod
    def load(cls, path: Path | None) -> "Keys":
        """Read the key file; without one there are no keys. Raises SettingsError naming what is wrong."""
        if path is None:
            return cls()
        try:
            read = _KeyFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise SettingsError(f"cannot read the API keys of service.keys = {path}: {error}") from error
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(str(part) for part in problem["loc"])
            raise SettingsError(f"service.keys = {path}: {where}: {problem['msg']}") from error
        for unique in ("name", "sha256"):
            values = [getattr(client, unique) for client in read.keys]
            if len(set(values)) < len(values):
                raise SettingsError(f"service.keys = {path}: two keys have the same {unique}")
        return cls(read.keys)

    def __bool__(self) -> bool:
        return bool(self._by_hash)

    def identify(self, authorization: str | None) -> Client:
        """Whose key the Authorization header carries. Raises Refused 401."""
        if not self:
            return ANYONE
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            message = "an API key is needed: send the header Authorization: Bearer KEY"
            raise Refused(401, "key_missing", message, "Authorization")
        hashed = hashlib.sha256(key.strip().encode("utf-8", "replace")).hexdigest()
        client = self._by_hash.get(hashed)
        if client is None:
            raise Refused(401, "key_unknown", "this API key is not known here", "Authorization")
        if client.expires is not None and datetime.fromtimestamp(self._clock(), UTC) >= client.expires:
            message = f"this API key expired at {client.expires.isoformat()}"
            raise Refused(401, "key_expired", message, "Authorization")
        return client

    def count_request(self, client: Client) -> None:
        """One more request. Raises Refused 429 where the key's rate is reached."""
        rate = client.requests_per_minute
        if rate is None:
            return
        now, meter = self._clock(), self._meter(client)
        meter.requests = min(float(rate), meter.requests + (now - meter.refilled) * rate / 60)
        meter.refilled = now
        if meter.requests < 1:
            message = f"this API key may send {rate} requests a minute"
            raise Refused(429, "rate_limited", message, retry_after=(1 - meter.requests) * 60 / rate)
        meter.requests -= 1

    def spend(self, client: Client, what: str, amount: int) -> None:
        """Take from a budget of the day, `tokens_per_day` or `decisions_per_day`; negative gives back.

        Raises Refused 429, taking nothing, where less is left.
        """
        allowed: int | None = getattr(client, what)
        if allowed is None:
            return
        meter = self._meter(client)
        used = meter.used.get(what, 0)
        if amount > allowed - used:
            message = f"this API key has {allowed - used} left of {what} = {allowed}; it needs {amount}"
            raise Refused(429, "budget_spent", message, retry_after=DAY - self._clock() % DAY)
        meter.used[what] = max(0, used + amount)

    def left(self, client: Client, what: str) -> int | None:
        """What is left of a budget of the day; None is without limit."""
        allowed: int | None = getattr(client, what)
        return None if allowed is None else allowed - self._meter(client).used.get(what, 0)

    def _meter(self, client: Client) -> _Meter:
        now = self._clock()
        rate = client.requests_per_minute or 0
        meter = self._meters.setdefault(client.name, _Meter(float(rate), now))
        if meter.day != int(now // DAY):
            meter.day, meter.used = int(now // DAY), {}
        return meter
