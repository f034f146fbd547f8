"""The key of a service, which is in the environment so that no settings and no trace ever show it."""

import os
import re
from typing import Final

from ..errors import SettingsError

HEADER_NAME: Final = r"^[A-Za-z0-9_!#$%&'*+.^`|~-]+$"
"""What a header may be called (RFC 9110, section 5.1)."""

_CARRIED: Final = re.compile(r"[ -~]+")


def key_headers(setting: str, variable: str, header: str) -> dict[str, str]:
    """The header with the key that an environment variable holds; {} for the variable "".

    White space around the key is left out. Raises SettingsError, which names the setting and never the key,
    if the variable is empty or holds what no header can carry.
    """
    if not variable:
        return {}
    key = os.environ.get(variable, "").strip()
    if not key:
        raise SettingsError(f"{setting} = {variable!r}: the environment has no such variable, or it is empty")
    # Refused here: the errors of HTTP clients show the value.
    if not _CARRIED.fullmatch(key):
        raise SettingsError(f"{setting} = {variable!r}: the variable holds what no header can carry")
    return {header: key}
