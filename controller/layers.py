"""Where settings come from, weakest layer first.

Defaults; `sufficit.toml`, or the file that `--config` or `SUFFICIT_CONFIG` names; `SUFFICIT_*` variables
(`SUFFICIT_IGP__TOP_M=3` is `igp.top_m`); then `--set igp.top_m=3`. A value given as text is read as TOML, and
as plain text where it is none; `none` stands for nothing.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..tools.errors import SettingsError

DEFAULT_FILE = Path("sufficit.toml")
PREFIX = "SUFFICIT_"

# Variables of the prefix that are read elsewhere, before any settings are.
RESERVED = frozenset({"SUFFICIT_CONFIG", "SUFFICIT_CACHE_DIR"})


def layers(
    assignments: Sequence[str], config: Path | None, environment: Mapping[str, str]
) -> Iterator[tuple[str, Any, str]]:
    """Every (dotted key, value, origin), weakest first."""
    named = config or (Path(environment["SUFFICIT_CONFIG"]) if environment.get("SUFFICIT_CONFIG") else None)
    path = named or DEFAULT_FILE
    if named is not None or path.is_file():
        yield from ((key, value, str(path)) for key, value in flatten(_read_toml(path)))
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in RESERVED:
            key = name.removeprefix(PREFIX).lower().replace("__", ".")
            yield key, _value(environment[name]), name
    for assignment in assignments:
        yield *parse_assignment(assignment), "--set"


def parse_assignment(assignment: str) -> tuple[str, Any]:
    """`key=value` as a dotted key and its value. Raises SettingsError if it is not of that form."""
    key, separator, text = assignment.partition("=")
    if not separator or not key.strip():
        raise SettingsError(f"--set {assignment!r}: write key=value, for instance --set igp.top_m=3")
    return key.strip(), _value(text.strip())


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"there is no settings file {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"cannot read the settings file {path}: {error}") from error


def flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of a nested mapping with its dotted key."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _value(value) if isinstance(value, str) and value == "none" else value


def _value(text: str) -> Any:
    if text.lower() in ("none", "null"):
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def put(tree: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key in a nested dict; raises SettingsError where a value stands in the way."""
    *parents, last = key.split(".")
    for parent in parents:
        below = tree.setdefault(parent, {})
        if not isinstance(below, dict):
            raise SettingsError(f"{key}: {parent} is a value, not a group of settings")
        tree = below
    tree[last] = value
